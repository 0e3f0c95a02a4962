// Where the issues and lost cycles of one SM are counted and reported.
#ifndef HEDDLE_REPLAY_CORE_ISSUE_ACCOUNTING_H_
#define HEDDLE_REPLAY_CORE_ISSUE_ACCOUNTING_H_

#include <bit>
#include <cstdint>
#include <span>

#include "replay/core/block_table.h"
#include "replay/core/event_notifier.h"
#include "replay/core/launch_context.h"
#include "replay/core/sm_run_state.h"
#include "replay/seams/types.h"
#include "replay/stats/instruction_profile.h"
#include "replay/stats/sm_counters.h"
#include "replay/stats/warp_progress.h"
#include "replay/warps/formation.h"

namespace heddle::replay {

// Keeps the SM's counters, and tells observer, profile and watching schedulers of issues. "Unwatched": only statistics
// and schedulers want to know, so that the quick functions, of one slot each, may be used.
class IssueAccounting {
 public:
  IssueAccounting(const LaunchContext& context, uint32_t sm, int issue_slots, const Formation& formation,
                  const BlockTable& blocks, const EventNotifier& notifier, SmRunState& run);

  bool unwatched() const { return unwatched_; }

  // --- issues in the present cycle
  // An issue of one or several slots, traced or inserted by the policy.
  void Count(int port, std::span<const SlotId> slots, bool inserted);
  // Count for slots that hold `threads` threads.
  void Count(int port, std::span<const SlotId> slots, uint32_t threads, bool inserted);
  // Count for one slot.
  void CountOne(int port, SlotId slot, bool inserted) {
    if (inserted || !unwatched_) {
      Count(port, std::span(&slot, 1), inserted);
      return;
    }
    const Lanes& lanes = formation_.table().lanes[slot];
    progress_.Issued(lanes);
    run_.last_progress = run_.now;
    notifier_.NotifyIssue(slot);
    AddTracedIssues(static_cast<uint32_t>(std::popcount(lanes.mask)), 1);
  }
  // An issue of the threads of `lanes`, in whatever slots they are, of the traced instruction at `pc`; `slot` is one of
  // these slots.
  void CountGroup(int port, SlotId slot, Pc pc, const Lanes& lanes);
  // The statistics of issues of `threads` threads of one hardware warp, of instructions of the trace; see
  // SmParts::NotifyIssue.
  void AddIssuesOfHwWarp(uint32_t hw_warp, uint32_t threads, uint64_t issues) {
    progress_.IssuedOfHwWarp(hw_warp, issues);
    AddTracedIssues(threads, issues);
  }

  // --- lost cycles
  // Only with a profile: cycles that a port lost while `slot` (kNoSlot: none) was the warp closest to issue.
  void ProfileLoss(SlotId slot, PortLoss loss, bool waw, uint64_t cycles);
  // notify_states.h: tells the observer of the slots that `state_of` gives a state, and of the ports, for `cycles`
  // cycles from `first` on.
  template <typename StateOf>
  void NotifyStates(Cycle first, uint64_t cycles, std::span<const PortLoss> ports, StateOf state_of) const;

  SmCounters& counters() { return counters_; }
  const SmCounters& counters() const { return counters_; }
  WarpProgress& progress() { return progress_; }
  const WarpProgress& progress() const { return progress_; }
  // Port cycles without an issue so far.
  uint64_t Stalls() const { return counters_.scheduler_cycles - counters_.issued; }

 private:
  void Observe(int port, std::span<const SlotId> slots);
  void ObserveLanes(int port, SlotId slot, std::span<const IssueEvent::Lane> lanes);
  void ProfileIssue(std::span<const SlotId> slots, bool inserted);
  void AddTracedIssues(uint32_t threads, uint64_t issues) {
    counters_.warp_instructions += issues;
    counters_.thread_instructions += issues * threads;
    counters_.issues_by_size[threads - 1] += issues;
  }

  const LaunchContext& context_;
  const uint32_t sm_;
  const bool unwatched_;
  const bool own_lanes_;  // an issue's lanes are those of its slots
  const Formation& formation_;
  const BlockTable& blocks_;
  const EventNotifier& notifier_;
  SmRunState& run_;
  alignas(64) SmCounters counters_;
  WarpProgress progress_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_ISSUE_ACCOUNTING_H_
