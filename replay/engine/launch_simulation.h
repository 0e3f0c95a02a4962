// One launch as it is replayed: its SMs and its dispatcher.
#ifndef HEDDLE_REPLAY_ENGINE_LAUNCH_SIMULATION_H_
#define HEDDLE_REPLAY_ENGINE_LAUNCH_SIMULATION_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/core/clusters/cluster_board.h"
#include "replay/core/launch_context.h"
#include "replay/core/sm_core.h"
#include "replay/engine/dispatch/recorded_blocks.h"
#include "replay/engine/grid_dispatch.h"
#include "replay/engine/launch_metrics.h"
#include "replay/engine/machine_time.h"
#include "replay/engine/replay_launch.h"
#include "replay/engine/sm_array.h"
#include "replay/machine/machine.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/stats/sm_counters.h"
#include "replay/stats/stall_counters.h"
#include "traces/format/read/recorded_clusters.h"

namespace heddle::replay {

// How a launch stands to others.
struct LaunchPlace {
  bool beside = false;  // others run at the same time: it has no SM before it is given one
  uint32_t number = 0;  // of the launch among these, from 0
  Cycle start = 0;      // in which it begins
};

// What the SMs of a launch have counted, and what stands in the result as the sum over them.
struct LaunchTotals {
  SmCounters sm;
  StallCounters stalls;
  result::v1::LaunchResult policies;  // of the front end and the policies of each SM
  bool resolves_all = false;          // a divergence policy resolves every instruction
};

// The SMs and the dispatcher of a launch. Its time is that of the machine.
class LaunchSimulation : private ClusterWaker {
 public:
  // `occupancy` must hold a block, and the machine a cluster. Everything referred to must outlive the object. Alone, it
  // lets the memory begin a launch, and all SMs are its own.
  LaunchSimulation(const LaunchRun& run, const Occupancy& occupancy, trace::RecordedClusters clusters,
                   MachineTime& time, const LaunchPlace& place = {});

  // The first round of dispatch, or the time for it.
  absl::Status Begin();
  // All blocks have retired, and nothing is under way in the memory of its SMs.
  bool Drained() const {
    return left() == 0 &&
           std::all_of(sms_.made().begin(), sms_.made().end(), [](const auto& sm) { return sm->memory().drained(); });
  }
  // What was counted, when the launch has ended, checked for sums that must agree. Beside others: it has given all SMs
  // back, which it had for `sm_cycles` cycles, summed over SMs.
  absl::StatusOr<result::v1::LaunchResult> Result(uint64_t sm_cycles = 0);

  const LaunchRun& run() const { return run_; }
  // The cycle in which it began.
  Cycle start() const { return place_.start; }
  // Once all blocks have retired: the cycle in which it ended.
  Cycle end() const { return end_; }
  // Thread blocks that have not retired.
  uint64_t left() const { return dispatch_->left(); }
  uint64_t ThreadInstructions() const {
    uint64_t sum = totals_.sm.thread_instructions;
    for (const auto& sm : sms_.made()) sum += sm->counters().thread_instructions;
    return sum;
  }
  // Adds a line for each SM that waits. `several`: other launches have SMs, so that this one is named.
  void ExplainDeadlock(bool several, std::vector<std::string>& lines) const;

  // --- beside other launches
  // Whether the SM, which it has, cannot be given back: blocks are there, or something is under way in its memory.
  bool IsBusy(uint32_t sm) const {
    const SmCore* const core = sms_.Find(sm);
    // What it has run ahead and retired there is still to come.
    return core != nullptr && (core->resident() > 0 || ahead_[sm].stopped || !core->memory().drained());
  }
  uint64_t unsent_blocks() const { return dispatch_->unsent(); }
  bool has_clusters() const { return context_.clusters != nullptr; }
  // Whether the dispatcher looks at SMs, or shares state with them.
  bool watches_sms() const { return dispatch_->asks(); }
  // Whether the SM, which it has, takes blocks from the next cycle on.
  void SetOpen(uint32_t sm, bool open) { news_.wants_round |= dispatch_->SetOpen(sm, open) && open; }
  // The SM, which is not busy, is another launch's from cycle `first` on.
  absl::Status GiveBack(uint32_t sm, Cycle first);
  // Whether SMs may have become busy or empty, or blocks may have been sent, since the last call.
  bool TakeChanged() { return std::exchange(news_.changed, false); }
  // The first cycle in which blocks of it could issue; kNever before that.
  Cycle first_block() const { return dispatch_->first_block(); }

  // --- parts of a cycle, in the order in which they come
  void EndBins(Cycle now) {
    if (now >= metrics_->next_bin()) metrics_->EndBins(now, [this](Cycle until) { return CountUntil(until); });
  }
  // Runs an SM, which is one of its own or was woken for nothing. Whether there is more to do: FinishTurn.
  bool RunTurn(uint32_t sm, Cycle now) {
    SmCore* const core = sms_.Find(sm);
    SmCore::RunAhead& ahead = ahead_[sm];
    if (now >= ahead.until) {
      if (core == nullptr) return false;
      const Cycle wake = core->RunTurn(now);
      if (wake == now) return true;
      time_.calendar().Wake(sm, wake);
      return false;
    }
    if (ahead.stopped && now == ahead.next) return true;
    time_.calendar().Wake(sm, ahead.next);  // it has run this cycle, and nothing came of it
    return false;
  }
  // After RunTurn: errors, what has ended on the SM, and when it runs next.
  absl::Status FinishTurn(uint32_t sm, Cycle now);
  // The calendar wakes dispatchers, perhaps too early.
  void WakeDispatcher(Cycle now) {
    const Cycle due = dispatch_->due();
    if (now + 1 >= due) {
      news_.wants_round = true;
    } else if (due != kNever) {
      time_.calendar().Wake(sms_.count(), due - 1);
    }
  }
  // The round of dispatch behind the cycle before `first`, if there is to be one.
  absl::Status RunRound(Cycle first) {
    if (!news_.wants_round) return absl::OkStatus();
    news_.wants_round = false;
    news_.changed = true;
    return dispatch_->WantsRound() ? dispatch_->Round(first) : absl::OkStatus();
  }
  // A launch ends with its last block, or when the memory has nothing under way any more.
  void NoteTime(Cycle now) {
    if (left() == 0) end_ = std::max(end_, now);
  }

 private:
  void WakeSmAt(uint32_t sm, Cycle at) override { time_.calendar().Wake(sm, at); }

  // --- launch_simulation.cc: the parts
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
  // Adds what one of the SMs has counted to the totals. `buffers`: the core, if it has instruction buffers. Errors:
  // sums that do not agree, and what is left over on the SM.
  absl::Status AddSm(const SmCore& sm, const IBufferCore* buffers, Cycle end);
  // What only the front end with instruction buffers counts.
  absl::Status AddBufferTotals(const IBufferCore& core);

  const LaunchRun& run_;
  MachineTime& time_;
  const LaunchPlace place_;
  LaunchContext context_;
  const RecordedBlocks blocks_;
  std::optional<ClusterBoard> board_;  // if clusters have several blocks, or barriers
  SmArray sms_;
  std::vector<SmCore::RunAhead> ahead_;  // by SM: what it has run beyond the time of the others
  uint64_t residency_ = 0;
  std::string limit_;
  std::optional<LaunchMetrics> metrics_;  // always there after the constructor, as is what follows
  std::optional<GridDispatch> dispatch_;
  LaunchTotals totals_;  // of SMs that are gone, until Result
  struct {
    bool wants_round = false;  // something may let the dispatcher decide
    bool changed = false;      // TakeChanged
  } news_;
  Cycle end_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_LAUNCH_SIMULATION_H_
