// One slice of the L2 cache, or, on machines without an L2, the memory partition between network and DRAM controller.
#ifndef HEDDLE_REPLAY_MEMORY_L2_L2_SLICE_H_
#define HEDDLE_REPLAY_MEMORY_L2_L2_SLICE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/machine.pb.h"
#include "replay/memory/cache/cache.h"
#include "replay/memory/l2/atomic_unit.h"
#include "replay/memory/l2/dram_job_queue.h"
#include "replay/memory/l2/fill_unit.h"
#include "replay/memory/l2/l2_slice_links.h"
#include "replay/memory/l2/reply_queue.h"
#include "replay/memory/ports/back_end.h"
#include "replay/memory/ports/clock_domains.h"
#include "replay/memory/ports/memory_request.h"
#include "traces/base/ring.h"

namespace heddle::replay {

// In requests and edges of the L2.
struct L2SliceCounters {
  uint64_t reads = 0;
  uint64_t read_misses = 0;  // of these, with a cache: those whose line was neither there nor on its way
  uint64_t writes = 0;
  uint64_t atomics = 0;
  uint64_t atomic_passes = 0;
  uint64_t replies = 0;
  uint64_t fetches = 0;      // reads of DRAM
  uint64_t write_backs = 0;  // writes to DRAM
  uint64_t dram_replies = 0;
  // Edges in which the oldest request could have been looked at but had to wait because of: an atomic under way, no
  // room for its reply; and (reservation fails of the cache's counters) a resource of the cache.
  uint64_t atomic_wait = 0;
  uint64_t output_wait = 0;
  uint64_t network_wait = 0;     // edges in which a reply was ready but the network had no room
  uint64_t dram_queue_wait = 0;  // without a cache: edges in which the oldest request found no room on the way to DRAM

  void Add(const L2SliceCounters& other);
  bool operator==(const L2SliceCounters&) const = default;
};

// docs/reference/timing.md, "The L2". Within an edge the later stages go first: the atomic unit ends; the oldest reply
// leaves; a waiter of a line that has come is served; the oldest request is looked at; a request is taken in. Edges in
// which nothing could happen may be left out, running them is harmless.
class alignas(64) L2Slice {
 public:
  // The machine has been checked. `slice` counts over all controllers. `rop_edges` and `dram_pipe_edges` are the
  // lengths of the pipelines before the cache and before the DRAM controller, in edges of the L2: they hold one request
  // per edge, besides the queues.
  L2Slice(const machine::v1::L2& l2, uint32_t slice, uint32_t rop_edges, uint32_t dram_pipe_edges);

  // Between launches: drops the lines with a byte of the ranges, which ascend and do not overlap.
  void Invalidate(std::span<const AddressRange> ranges);
  // Time starts again at edge 0; nothing may be under way. The lines stay; counters start at zero.
  void BeginLaunch();

  // Runs edge `now`; edges ascend. Returns the next edge at which there is something to do if nothing comes from
  // outside, kNoEdge for none.
  Edge Run(Edge now, L2SliceLinks& links);
  // Does at once what Run would do to a request that comes over the network with no other before it: takes it in, to be
  // looked at from edge `ready` on. False if that cannot be known before, since the input queue is full. If `wakes` is
  // true then, the slice must be run at `ready`.
  bool TakeInAtOnce(const MemoryRequest& request, Edge ready, bool& wakes) {
    if (input_.full()) return false;
    wakes = input_.empty();
    input_.push_back({request, ready});
    return true;
  }
  // The network has room for the reply that it had none for: the slice must be run. It does not try before.
  void NetworkHasRoom() { replies_.NetworkHasRoom(); }
  // Whether the slice waits for room in its DRAM queue: run it when there is some.
  bool waits_for_dram_queue() const { return jobs_.room_wanted(); }

  // The most jobs that one edge adds to those for DRAM: a line and what it pushes out, and what a line that has come
  // pushes out.
  static constexpr uint32_t kMostJobsPerEdge = 3;
  // The jobs for DRAM.
  const DramJobQueue& jobs() const { return jobs_; }
  // Takes the oldest one, of which there must be one.
  void TakeDramJob() { jobs_.Pop(); }
  // The data of a job have come, or have been written.
  void Returned(uint32_t entry, bool write);

  bool drained() const;
  // Errors: Internal, naming the counters that disagree; only when drained.
  absl::Status CheckDrained() const;
  std::string Explain() const;
  bool has_cache() const { return cache_.has_value(); }
  // Null without a cache.
  const Cache* cache() const { return cache_ ? &*cache_ : nullptr; }
  const L2SliceCounters& counters() const { return counters_; }

 private:
  struct Arrival {
    MemoryRequest request;
    Edge ready = 0;
  };
  // Why the oldest request waits.
  enum class Wait : uint8_t { kNone, kCache, kAtomic, kOutput, kDramQueue };

  void CreditSkipped(uint64_t edges);
  // An atomic is under way.
  void EndAtomic(Edge now);
  // A line is being served, or has come.
  void ServeFill(Edge now, L2SliceLinks& links);
  // The oldest request is ready.
  void LookUp(Edge now, L2SliceLinks& links);
  void AccessWithCache(const MemoryRequest& request, Edge now, L2SliceLinks& links);
  void AccessWithoutCache(const MemoryRequest& request, L2SliceLinks& links);
  // Nothing is held, or the network's room, DRAM's queue or its answers are what is waited for.
  bool WaitsForLater() const;
  // After edge `now`, in which a request was taken in or not.
  Edge NextEdge(Edge now, bool took, const L2SliceLinks& links) const;

  // Whether a request whose data are there can be answered now, and does so.
  bool CanAnswer(const MemoryRequest& request) const;
  void Answer(const MemoryRequest& request, Edge ready, Edge now, L2SliceLinks& links);
  void QueueDramJob(uint64_t address, uint32_t bytes, uint32_t entry, bool write, L2SliceLinks& links);

  // What every edge looks at comes first, in few lines of the host's cache.
  Edge next_unrun_ = 0;
  ReplyQueue replies_;
  const uint32_t slice_;
  // Since the last edge that was run.
  Wait wait_ = Wait::kNone;
  ReservationFail wait_cause_ = ReservationFail::kWay;  // kCache
  TimedRing<Arrival> input_;                            // ROP pipeline and queue
  FillUnit fills_;
  AtomicUnit atomics_;
  DramJobQueue jobs_;
  L2SliceCounters counters_;
  std::optional<Cache> cache_;
  const uint32_t line_bits_;
  const uint32_t hit_cycles_;
  machine::v1::Cache cache_config_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_L2_L2_SLICE_H_
