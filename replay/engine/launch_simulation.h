// One launch as it is replayed: its SMs, its memory, its dispatcher, and their time.
#ifndef HEDDLE_REPLAY_ENGINE_LAUNCH_SIMULATION_H_
#define HEDDLE_REPLAY_ENGINE_LAUNCH_SIMULATION_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/core/clusters/cluster_board.h"
#include "replay/core/launch_context.h"
#include "replay/core/sm_core.h"
#include "replay/engine/calendar.h"
#include "replay/engine/dispatch/recorded_blocks.h"
#include "replay/engine/grid_dispatch.h"
#include "replay/engine/launch_metrics.h"
#include "replay/engine/replay_launch.h"
#include "replay/engine/sm_array.h"
#include "replay/machine/machine.h"
#include "replay/memory/ports/memory_system.h"
#include "traces/format/read/recorded_clusters.h"

namespace heddle::replay {

// Whether a memory that is slow goes on answering: then it is no hang that an SM is silent for long.
class MemoryService {
 public:
  MemoryService(const machine::v1::Machine& machine, const MemorySystem& memory);

  // Notes when DRAM has answered requests since the last call.
  void Note(Cycle now) {
    if (memory_.served_requests() == served_) return;
    served_ = memory_.served_requests();
    served_at_ = now;
  }
  // When an answer was noted last.
  Cycle last() const { return served_at_; }
  // In which a DRAM that has requests answers one; 0 without DRAM.
  Cycle longest() const { return longest_; }

 private:
  const MemorySystem& memory_;
  Cycle longest_ = 0;
  uint64_t served_ = 0;  // MemorySystem::served_requests, as of served_at_
  Cycle served_at_ = 0;
};

// The SMs, the memory and the dispatcher of a run, and the time they share.
class LaunchSimulation : public SmWaker, public ClusterWaker {
 public:
  // `occupancy` must hold a block, and the machine a cluster. Everything referred to must outlive the object.
  LaunchSimulation(const LaunchRun& run, const Occupancy& occupancy, trace::RecordedClusters clusters);

  // Runs the launch to its end. Call it once.
  absl::Status Run();
  // The present cycle of the machine; an SM may be ahead of it.
  const Cycle& clock() const { return now_; }
  // What was counted, after Run, checked for sums that must agree.
  absl::StatusOr<result::v1::LaunchResult> Result();

  void WakeSm(uint32_t sm) override { calendar_.Wake(sm, now_); }

 private:
  void WakeSmAt(uint32_t sm, Cycle at) override { calendar_.Wake(sm, at); }

  // --- launch_simulation.cc: the parts and time
  // What the SMs share that follows from the policies.
  void CompleteContext(const WarpOccupancy& by_warp);
  // Blocks per SM where the resources of an SM allow `blocks`: GPGPU-Sim spreads a grid that is smaller than what the
  // machine holds over all SMs.
  uint64_t Residency(int blocks) const;
  // Runs an SM that has run cycle `now` on alone, as long as nothing outside it can matter to it: that keeps what it
  // works on in the host's caches. Returns the next cycle in which the SM is to be looked at.
  inline Cycle RunAhead(uint32_t sm, Cycle now);
  // RunAhead for an SM whose memory is isolated, and which has been asked when it wakes.
  Cycle RunAlone(uint32_t sm, Cycle now);
  // Whether an SM that has been silent for long may wait for a memory that goes on answering.
  bool IsServed(const SmCore& sm);
  // Whether it may wait for blocks of its clusters on SMs that are not silent.
  bool WaitsForCluster(const SmCore& sm);
  // What every waiting thread, resource and queue waits for. `found`: how the hang was noticed.
  absl::Status Deadlock(const std::string& found) const;
  // All blocks have retired, and nothing is under way in the memory.
  bool Done() const;
  uint64_t ThreadInstructions() const {
    uint64_t sum = 0;
    for (const auto& sm : sms_.made()) sum += sm->counters().thread_instructions;
    return sum;
  }

  // --- launch_result.cc
  // What was counted of clusters of several blocks. Errors: what does not agree.
  absl::Status AddClusterResult(result::v1::LaunchResult& result) const;
  // What all SMs and the memory have counted in the cycles before `until`: all of them have been run, and nothing in
  // it.
  LaunchCounters CountUntil(Cycle until);
  // Calls `visit` with the seam and the declaration of each policy of the run, and the values of its own counters: a
  // list per object, of those that have been made.
  template <typename Visit>
  void ForEachPolicy(Visit visit) const;
  // The policies' own counters, and their values over SMs and ports.
  std::vector<PolicyColumn> PolicyColumns() const;
  std::vector<uint64_t> PolicyValues() const;
  // What only the front end with instruction buffers counts.
  absl::Status AddBufferResult(result::v1::LaunchResult& result) const;
  // What the memory policies count.
  absl::Status AddMemoryPolicyResult(result::v1::LaunchResult& result) const;

  const LaunchRun& run_;
  LaunchContext context_;
  const RecordedBlocks blocks_;
  MemorySystem& memory_;
  MemoryService service_;
  std::optional<ClusterBoard> board_;  // if clusters have several blocks, or barriers
  SmArray sms_;
  std::vector<SmCore::RunAhead> ahead_;  // by SM: what it has run beyond the time of the others
  Calendar calendar_;                    // of the SMs and, behind them, the dispatcher
  uint64_t residency_ = 0;
  std::string limit_;
  std::optional<LaunchMetrics> metrics_;  // always there after the constructor, as is what follows
  std::optional<GridDispatch> dispatch_;
  Cycle now_ = 0;
  Cycle end_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_LAUNCH_SIMULATION_H_
