#include "replay/core/ibuffer/cycle_accounting.h"

#include <algorithm>
#include <vector>

#include "replay/core/notify_states.h"

namespace heddle::replay {
namespace {

int StateOf(WarpClass one) {
  switch (one) {
    case WarpClass::kStructural:
      return static_cast<int>(WarpState::kReady);
    case WarpClass::kMemory:
    case WarpClass::kMemoryWaw:
      return static_cast<int>(WarpState::kMemory);
    case WarpClass::kArithmetic:
    case WarpClass::kArithmeticWaw:
      return static_cast<int>(WarpState::kArithmetic);
    case WarpClass::kControl:
      return static_cast<int>(WarpState::kControl);
    case WarpClass::kFetch:
      return static_cast<int>(WarpState::kFetch);
    case WarpClass::kPolicy:
    case WarpClass::kPaused:
      return static_cast<int>(WarpState::kPolicy);
    case WarpClass::kBarrier:
      return static_cast<int>(WarpState::kBarrier);
    case WarpClass::kExit:
    case WarpClass::kNone:
      break;
  }
  return kNoState;
}

}  // namespace

void CycleAccounting::CountIdle(uint64_t idle, uint64_t data_threads) {
  SmCounters& counters = sm_.issues.counters();
  counters.idle_cycles += idle;
  const auto& states = sm_.formation.thread_states();
  for (int state = 0; state < kThreadStates; ++state) counters.idle_threads[state] += idle * states[state];
  if (const uint64_t paused = state_.issue_status.paused_offered_threads(); paused != 0) [[unlikely]]
    counters.idle_paused += idle * paused;
  const uint64_t data = idle * data_threads;
  counters.idle_threads[static_cast<int>(ThreadState::kReady)] -= data;
  counters.idle_threads[static_cast<int>(ThreadState::kDependency)] += data;
}

void CycleAccounting::AddCounted(Cycle until, uint64_t cycles, uint64_t issues, uint64_t waiting) {
  SmCounters& counters = sm_.issues.counters();
  const uint64_t ports = static_cast<uint64_t>(sm_.context.ports) * cycles;
  counters.resident_cycles += cycles;
  counters.scheduler_cycles += ports;
  counters.issued += issues;
  counters.stall += ports - issues - waiting;
  AddWaiting(waiting);
  state_.issue_status.CreditWarps(cycles);
  credited_ = state_.offer_cycle = until;
}

// Nothing changes between two cycles that are run: skipped ones had the state that is there now.
void CycleAccounting::CreditSkipped(Cycle until) {
  if (sm_.blocks.resident() > 0) {
    const Cycle idle_from = std::max(credited_, std::min(until, state_.ports.held_until));
    CountPorts(until - credited_, until - idle_from, 0);
    if (watched_) TellOf(credited_, until - credited_, 0);
  }
  credited_ = until;
  state_.issue_status.SetTime(until);
}

void CycleAccounting::TellOf(Cycle first, uint64_t count, uint32_t issued) {
  if (sm_.context.counts_activity) {
    WarpClassMask classes = 0;
    for (int port = 0; port < sm_.context.ports; ++port) classes |= state_.issue_status.present(port);
    sm_.issues.counters().cycles.Add(issued != 0, (classes & MaskOf(WarpClass::kStructural)) != 0, AllWaitForMemory(),
                                     (classes & kDataClasses) != 0, count);
  }
  if (sm_.context.profile != nullptr) ProfilePorts(count, issued);
  if (sm_.context.observes_states) ObserveStates(first, count);
}

void CycleAccounting::ObserveStates(Cycle first, uint64_t cycles) const {
  std::vector<PortLoss> ports;
  for (int port = 0; port < sm_.context.ports; ++port) {
    ports.push_back(PortLossOf(state_.issue_status.present(port)));
  }
  sm_.issues.NotifyStates(first, cycles, ports,
                          [this](SlotId slot) { return StateOf(state_.issue_status.of(slot).state()); });
}

void CycleAccounting::ProfilePorts(uint64_t count, uint32_t issued) {
  constexpr WarpClassMask kReads = MaskOf(WarpClass::kMemory) | MaskOf(WarpClass::kArithmetic);
  for (int port = 0; port < sm_.context.ports; ++port) {
    if ((issued >> port & 1) != 0) continue;
    const WarpClassMask classes = state_.issue_status.present(port);
    const PortLoss loss = PortLossOf(classes);
    const bool data = loss == PortLoss::kDataMemory || loss == PortLoss::kDataArithmetic;
    sm_.issues.ProfileLoss(state_.issue_status.Oldest(port, ClassesOf(loss), sm_.table().entries), loss,
                           data && (classes & kReads) == 0, count);
  }
}

}  // namespace heddle::replay
