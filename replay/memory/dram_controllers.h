// The DRAM controllers, and how jobs of the L2 slices come to them.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_CONTROLLERS_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_CONTROLLERS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/result.pb.h"
#include "replay/memory/address_map.h"
#include "replay/memory/dram/dram_controller.h"
#include "replay/memory/l2_slices.h"
#include "replay/memory/partition_time.h"
#include "replay/memory/ports/memory_system.h"

namespace heddle::replay {

// A controller takes one job per cycle, from its slices in turn. It hears of nothing but their jobs, and of these long
// before it may take them. So it runs ahead, while the host has its state at hand: through all edges before the first
// at which a job that is not queued yet can be ready. Only replies wait for their time.
class DramControllers {
 public:
  // All references outlive this. With `force_tick` every controller runs at every edge, and none runs ahead.
  DramControllers(const DramParameters& parameters, const AddressMap& map, L2Slices& slices, PartitionTime& time,
                  bool force_tick);

  // As if nothing had ever been accessed; nothing may be under way.
  void Flush();
  void BeginLaunch();
  // From now on counters have to keep time in this launch: nothing runs ahead.
  void BeginSampling() { sampled_ = true; }
  // Wakes all controllers at edge 0.
  void WakeAll();

  // A job was put at the end of the slice's queue, to be taken from edge `ready` on.
  void JobQueued(uint32_t slice, Edge ready);
  // Runs a controller at its edge `edge`: its slices get replies, and are woken.
  void Run(uint32_t controller, Edge edge);

  // Jobs that were queued and are not answered.
  uint64_t under_way() const { return under_way_; }
  // Jobs that were answered, in all launches.
  uint64_t served() const { return served_; }

  // Brings the counters up to date with all cycles before `cycle`.
  void Settle(uint64_t cycle);
  // What they have counted. Errors: Internal, naming a controller that is not drained, and what it holds.
  absl::StatusOr<DramCounters> CheckedCounters() const;
  // Writes the counters as they stand before edge `end` of the DRAM.
  void Write(Edge end, result::v1::DramCounters& out) const;
  void AddSample(MemorySample& out) const;
  // What each holds, for the report of a deadlock, by controller.
  std::vector<std::string> Explain() const;

 private:
  // What is known of a controller besides what it knows itself.
  struct State {
    uint32_t next_slice = 0;   // whose jobs come first, of its slices
    Edge job_ready = kNoEdge;  // when the first of its slices' oldest jobs is ready
    Edge ahead = 0;            // all edges before this one have run, but for replies
    Edge wake = kNoEdge;       // for which it was woken last
  };

  std::vector<DramController> MakeControllers() const;
  void RunAhead(uint32_t controller, Edge edge);
  // Up to which edge the controller can run ahead from `edge`, at least one further.
  Edge AheadUntil(uint32_t controller, Edge edge);
  // The next edge at which the controller takes a job or issues a command, as far as is known now.
  Edge NextEvent(uint32_t controller) const {
    const DramController& dram = controllers_[controller];
    // A job that found no room is tried again when the queue gives something to a bank, which is an event.
    return dram.HasRoom() ? std::min(dram.NextCommand(), states_[controller].job_ready) : dram.NextCommand();
  }
  void TakeJob(uint32_t controller, Edge edge);

  std::vector<DramController> controllers_;
  std::vector<State> states_;  // by controller
  L2Slices& slices_;
  PartitionTime& time_;
  const AddressMap& map_;
  const uint32_t slices_per_controller_;
  const bool force_tick_;
  bool sampled_ = false;
  uint64_t under_way_ = 0;
  uint64_t served_ = 0;
  const DramParameters parameters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_CONTROLLERS_H_
