// Where the cycles of the issue ports and of the warps go in the reference core with instruction buffers.
#include <algorithm>

#include "tests/replay/reference/reference_ibuffer_core.h"

namespace heddle::replay {

ReferenceBufferCore::Condition ReferenceBufferCore::ConditionOf(SlotId slot) const {
  switch (formation_.table().state[slot]) {
    case SlotState::kFree:
      return {};
    case SlotState::kBarrier:
      return {.what = kBarrierClass};
    case SlotState::kParked:
    case SlotState::kResolving:
      return {.what = kPolicy};
    case SlotState::kInFlight: {
      const Work* work = Holding(slot);
      if (work == nullptr) return {.what = kPolicy};  // its resolve waits behind one that was refused
      if (work->fence) return {.what = kBarrierClass};
      if (work->control) return {.what = kControl};
      return {.what = kData, .memory = work->access};
    }
    case SlotState::kOffered:
      break;
  }
  if (formation_.inserted(slot) > 0) return {.what = kStructural};
  if (one_in_flight()) {
    const bool formed = now_ >= offered_.at(slot) + launch_.machine->core().ibuffer().reformed_warp_cycles();
    return {.what = formed ? kStructural : kFetch};
  }
  if (buffers_[slot].entries == 0) return {.what = buffers_[slot].flushed_by_control ? kControl : kFetch};
  const std::vector<const Work*> writers = WritersOf(slot, true, true);
  if (writers.empty()) return {.what = kStructural};
  return {.what = kData,
          .memory = std::any_of(writers.begin(), writers.end(), [](const Work* work) { return work->memory; }),
          .only_write = WritersOf(slot, true, false).empty()};
}

bool ReferenceBufferCore::AllWaitForMemory() const {
  bool any = false;
  for (size_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].place < 0 || !formation_.is_live(static_cast<ThreadId>(t))) continue;
    const SlotId slot = formation_.slot_of(static_cast<ThreadId>(t));
    if (slot == kNoSlot) return false;
    const Condition condition = ConditionOf(slot);
    if (condition.what != kData || !condition.memory) return false;
    any = true;
  }
  return any;
}

void ReferenceBufferCore::CountCycle() {
  const WarpTable& table = formation_.table();
  const bool all_wait = AllWaitForMemory();
  bool busy = false;
  for (size_t port = 0; port < port_free_.size(); ++port) {
    ++statistics_.scheduler_total;
    ++statistics_.port_cycles;
    busy |= port_free_[port] > now_;
    if (issued_[port] != kNoSlot) {
      ++statistics_.scheduler_issued;
      ++statistics_.busy_port_cycles;
      continue;
    }
    Condition port_condition;
    for (size_t i = 0; i < table.state.size(); ++i) {
      const SlotId slot = static_cast<SlotId>(i);
      if (!Live(slot) || table.port[slot] != port) continue;
      const Condition condition = ConditionOf(slot);
      if (condition.what > port_condition.what) {
        port_condition = condition;
      } else if (condition.what == port_condition.what) {
        port_condition.memory |= condition.memory;
        port_condition.only_write &= condition.only_write;
      }
    }
    if (port_condition.what == kStructural) {
      ++statistics_.scheduler_stall;
    } else if (all_wait) {
      ++statistics_.scheduler_memory;
    } else {
      ++statistics_.scheduler_idle;
    }
  }
  if (busy) return;
  ++statistics_.idle_cycles;
  for (size_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].place < 0) continue;
    ThreadState state = formation_.StateOfThread(static_cast<ThreadId>(t));
    if (state == ThreadState::kReady && ConditionOf(formation_.slot_of(static_cast<ThreadId>(t))).what == kData) {
      state = ThreadState::kDependency;
    }
    switch (state) {
      case ThreadState::kReady:
        ++statistics_.idle_ready;
        break;
      case ThreadState::kDependency:
        ++statistics_.idle_dependency;
        break;
      case ThreadState::kBarrier:
        ++statistics_.idle_barrier;
        break;
      case ThreadState::kInactive:
        ++statistics_.idle_inactive;
        break;
      case ThreadState::kReconverging:
        ++statistics_.idle_reconverging;
        break;
      case ThreadState::kFinished:
        ++statistics_.idle_finished;
        break;
    }
  }
}

}  // namespace heddle::replay
