// Where the cycles of one SM's ports and threads go, with instruction buffers.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_CYCLE_ACCOUNTING_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_CYCLE_ACCOUNTING_H_

#include <bit>
#include <cstdint>

#include "replay/core/ibuffer/ibuffer_state.h"
#include "replay/core/sm_parts.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Counts each cycle once: those that are run, with the state between selection and what follows it, and those that are
// skipped, with the state that they had.
class CycleAccounting {
 public:
  CycleAccounting(SmParts& sm, IBufferState& state)
      : sm_(sm),
        state_(state),
        watched_(sm.context.profile != nullptr || sm.context.observes_states || sm.context.counts_activity) {}

  // Statistics include every cycle before this one.
  Cycle credited() const { return credited_; }
  // Credits the cycles before `until` that have not been counted. What changes from here on counts from `until` on.
  void Credit(Cycle until) {
    state_.offer_cycle = until;
    if (until > credited_) CreditSkipped(until);
  }
  // The present cycle, between its selection and what follows it.
  [[gnu::always_inline]] void CountCycle(Cycle now) {
    SmParts& sm = sm_;
    IBufferState& state = state_;
    if (sm.blocks.resident() > 0) {
      const IssuePorts& ports = state.ports;
      CountPorts(1, ports.issued_mask == 0 && now >= ports.held_until ? 1 : 0, ports.issued_mask);
      state.issue_status.EndSelection();
      if (watched_) [[unlikely]]
        TellOf(now, 1, ports.issued_mask);
    }
    credited_ = now + 1;
    state.issue_status.SetTime(now + 1);
  }

  // --- for the fast path, which counts by itself
  // `count` cycles without an issue; threads in offered warps that wait for data.
  void CountIdle(uint64_t count, uint64_t data_threads);
  // `cycles` cycles up to `until`: port cycles with an issue, and those in which no warp of the port lacked nothing.
  void AddCounted(Cycle until, uint64_t cycles, uint64_t issues, uint64_t waiting);

 private:
  void CreditSkipped(Cycle until);
  // `count` cycles, of which `idle` without an issue on any port, in which the ports in `issued` (bits) issued.
  [[gnu::always_inline]] void CountPorts(uint64_t count, uint64_t idle, uint32_t issued) {
    IssueStatusTable& issue_status = state_.issue_status;
    SmCounters& counters = sm_.issues.counters();
    const auto ports = static_cast<uint64_t>(sm_.context.ports);
    counters.resident_cycles += count;
    counters.scheduler_cycles += count * ports;
    const uint64_t issues = static_cast<uint64_t>(std::popcount(issued));
    const uint64_t waiting = issue_status.Credit(count, issued);  // ports
    counters.issued += issues;
    counters.stall += (ports - issues - waiting) * count;
    if (waiting != 0) AddWaiting(waiting * count);
    if (idle != 0) CountIdle(idle, issue_status.offered_data_threads());
  }
  // Port cycles in which no warp lacked nothing but a unit.
  void AddWaiting(uint64_t cycles) {
    SmCounters& counters = sm_.issues.counters();
    (AllWaitForMemory() ? counters.memory : counters.idle) += cycles;
  }
  bool AllWaitForMemory() const {
    const IssueStatusTable& issue_status = state_.issue_status;
    const uint64_t memory = issue_status.memory_threads();
    return memory != 0 && memory + issue_status.paused_threads() == sm_.LiveThreads();
  }
  // `count` cycles from `first` on with the present state, in which the ports in `issued` (bits) issued, for whoever
  // wants to know more than the counters.
  void TellOf(Cycle first, uint64_t count, uint32_t issued);
  // `count` cycles in which the ports in `issued` (bits) issued and the others did not, for the profile.
  void ProfilePorts(uint64_t count, uint32_t issued);
  // `cycles` cycles from `first` on with the present state, for an observer that wants states.
  void ObserveStates(Cycle first, uint64_t cycles) const;

  SmParts& sm_;
  IBufferState& state_;
  const bool watched_;  // TellOf has something to do
  Cycle credited_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_CYCLE_ACCOUNTING_H_
