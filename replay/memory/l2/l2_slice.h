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
#include "replay/memory/ports/back_end.h"
#include "replay/memory/ports/clock_domains.h"
#include "replay/memory/ports/memory_request.h"
#include "traces/base/ring.h"

namespace heddle::replay {

// A request of a slice to its DRAM controller.
struct DramJob {
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t entry = 0;  // what the data are for; Returned takes it back
  bool write = false;
  Edge ready = 0;  // the first DRAM edge at which the controller may take it
};

// What a slice is connected to. All calls concern the edge that is being run.
class L2SliceLinks {
 public:
  virtual ~L2SliceLinks() = default;
  // The request that has come over the network for slice `slice`, null if none; and takes it.
  virtual const MemoryRequest* Arrived(uint32_t slice) const = 0;
  virtual void TakeArrived(uint32_t slice) = 0;
  // Sends a reply into the network; false if that has no room: the slice is told (NetworkHasRoom), and run again, when
  // it has.
  virtual bool SendReply(uint32_t slice, const MemoryRequest& reply) = 0;
  // A job was put at the end of the slice's DRAM queue.
  virtual void DramJobQueued(uint32_t slice, Edge ready) = 0;
  // The number of the line among those of the slice, for the choice of the set.
  virtual uint64_t LineWithinSlice(uint64_t address) const = 0;
  // The first edge of the L2 at which a request that is taken in now may be looked at (`rop_cycles`), and the first
  // edge of the DRAM at which a job that is queued now may be taken (`dram_pipe_cycles`).
  virtual Edge AfterRop() = 0;
  virtual Edge AfterDramPipe() = 0;
};

// In requests and edges of the L2.
struct L2SliceCounters {
  uint64_t reads = 0;
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
  void NetworkHasRoom() { network_has_room_ = true; }
  // Whether the slice waits for room in its DRAM queue: run it when there is some.
  bool waits_for_dram_queue() const { return dram_queue_blocked_; }

  // Jobs that the queue to DRAM has room for, and the most that one edge adds: a line and what it pushes out, and what
  // a line that has come pushes out.
  uint32_t dram_queue_room() const { return dram_queue_.room(); }
  static constexpr uint32_t kMostJobsPerEdge = 3;
  // The oldest job for DRAM: from when on it may be taken (kNoEdge: there is none), what it is; and takes it.
  Edge dram_job_ready() const { return dram_queue_.ready(); }
  const DramJob& dram_job() const { return dram_queue_.front(); }
  void TakeDramJob() { dram_queue_.pop_front(); }
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
  struct Waiting {
    MemoryRequest request;
    Edge ready = 0;
  };
  enum class Wait : uint8_t { kNone, kCache, kAtomic, kOutput, kDramQueue };
  static constexpr uint32_t kNone = ~uint32_t{0};

  uint64_t LineOf(const MemoryRequest& request) const { return request.address >> line_bits_; }
  void CreditSkipped(uint64_t edges);
  // An atomic is under way.
  void EndAtomic(Edge now);
  // A reply is blocked, or ready.
  void SendReply(L2SliceLinks& links);
  // A line is being served, or has come.
  void ServeFill(Edge now, L2SliceLinks& links);
  // The oldest request is ready.
  void Look(Edge now, L2SliceLinks& links);
  void LookWithCache(const MemoryRequest& request, Edge now, L2SliceLinks& links);
  void LookWithoutCache(const MemoryRequest& request, L2SliceLinks& links);
  // Nothing is held, or the network's room, DRAM's queue or its answers are what is waited for.
  bool WaitsForLater() const;
  // After edge `now`, in which a request was taken in or not.
  Edge NextEdge(Edge now, bool took, const L2SliceLinks& links) const;

  // Whether a request whose data are there can be answered now, and does so.
  bool CanAnswer(const MemoryRequest& request) const;
  void Answer(const MemoryRequest& request, Edge ready, Edge now, L2SliceLinks& links);
  void QueueDramJob(uint64_t address, uint32_t bytes, uint32_t entry, bool write, L2SliceLinks& links);

  // What every edge looks at comes first, in two lines of the host's cache.
  Edge next_unrun_ = 0;
  TimedRing<Waiting> output_;
  const uint32_t slice_;
  uint32_t serving_ = kNone;  // the line (without a cache: the request) of those below that is being served
  // Why the oldest request waits since the last edge that was run; the same for a ready reply.
  Wait wait_ = Wait::kNone;
  ReservationFail wait_cause_ = ReservationFail::kWay;
  bool reply_blocked_ = false;
  bool network_has_room_ = false;  // for the reply that is blocked
  bool serve_blocked_ = false;
  bool dram_queue_blocked_ = false;
  bool atomic_busy_ = false;
  TimedRing<Waiting> input_;  // ROP pipeline and queue
  // Lines (without a cache: requests) that have come back and are not being served yet.
  Ring<uint32_t> returned_;
  const uint32_t line_bits_;
  const uint32_t hit_cycles_;

  L2SliceCounters counters_;
  uint64_t dram_jobs_ = 0;  // not returned
  TimedRing<DramJob> dram_queue_;
  std::optional<Cache> cache_;
  // By waiter number of the MSHRs; without a cache: by entry of the requests in DRAM.
  std::vector<MemoryRequest> waiting_;
  std::optional<MemoryRequest> in_hand_;  // the waiter of `serving_` that is to be answered next
  std::vector<uint32_t> free_entries_;    // without a cache
  // The atomic unit: one operation at a time, one lane of an address per edge. Its line is locked meanwhile.
  Edge atomic_done_ = 0;
  MemoryRequest atomic_;
  machine::v1::Cache cache_config_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_L2_L2_SLICE_H_
