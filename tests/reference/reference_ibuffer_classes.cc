// Where the cycles of the issue ports and of the warps go in the reference core with instruction buffers.
#include <algorithm>

#include "tests/reference/reference_ibuffer_core.h"

namespace heddle::replay {

ReferenceBufferCore::Condition ReferenceBufferCore::ConditionOf(SlotId slot) const {
  if (Live(slot) && BlockPaused(slot)) return {.what = kPolicy, .paused = true};
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
      return {.what = kData, .memory = work->access, .beyond_shared = work->access && work->beyond_shared};
    }
    case SlotState::kOffered:
      break;
  }
  if (formation_.inserted(slot) > 0) return {.what = kStructural};
  if (one_in_flight()) {
    const bool formed = now_ >= offered_.at(slot) + launch_.machine->core().ibuffer().reformed_warp_cycles();
    return {.what = formed ? kStructural : kFetch};
  }
  if (Paused(slot)) return {.what = kData};
  if (buffers_[slot].entries == 0) return {.what = buffers_[slot].flushed ? kControl : kFetch};
  if (ByControlBits()) {
    const BarrierWait wait = WaitAtBarriers(slot);
    if (!wait.blocked) return {.what = kStructural};
    Condition condition{.what = kData, .only_write = wait.results.empty()};
    for (const Work* work : wait.results) {
      condition.memory |= work->memory;
      condition.beyond_shared |= work->memory && work->beyond_shared;
    }
    return condition;
  }
  const std::vector<const Work*> writers = WritersOf(slot, true, true);
  if (writers.empty()) return {.what = kStructural};
  return {.what = kData,
          .memory = std::any_of(writers.begin(), writers.end(), [](const Work* work) { return work->memory; }),
          .beyond_shared =
              std::any_of(writers.begin(), writers.end(), [](const Work* work) { return work->beyond_shared; }),
          .only_write = WritersOf(slot, true, false).empty()};
}

Lack ReferenceBufferCore::LackOf(SlotId slot) const {
  const WarpTable& table = formation_.table();
  if (!Live(slot)) return Lack::kWarp;
  if (table.state[slot] == SlotState::kResolving) return Lack::kDecision;
  if (table.state[slot] == SlotState::kBarrier) return Lack::kBarrier;
  if (table.state[slot] == SlotState::kInFlight) {
    const Work* work = Holding(slot);
    if (work == nullptr) return Lack::kDecision;
    if (work->fence) return Lack::kBarrier;
    if (work->control) return Lack::kBranch;
    if (!work->to_memory) return Lack::kResult;
    return work->off_core ? Lack::kFarMemory : Lack::kMemory;
  }
  const Lack of_unit = HasUnit(slot) ? Lack::kNothing : Lack::kUnit;
  if (one_in_flight() && table.state[slot] == SlotState::kOffered) {
    const auto known = offers_.find(slot);
    const bool counted = known != offers_.end() && known->second == table.offered_at[slot];
    const Cycle offered = counted ? offered_.at(slot) : now_;
    if (now_ < offered + launch_.machine->core().ibuffer().reformed_warp_cycles()) return Lack::kInstruction;
  }
  if (one_in_flight() || formation_.inserted(slot) > 0) return of_unit;
  if (Paused(slot)) return Lack::kResult;
  const Buffer& buffer = buffers_[slot];
  const bool its_own = buffer.formed == table.formed[slot] && buffer.head == table.position[slot].pc();
  if (!its_own || buffer.entries == 0) return Lack::kInstruction;
  const bool blocked = ByControlBits() ? WaitAtBarriers(slot).blocked : !WritersOf(slot, true, true).empty();
  if (!blocked) return of_unit;
  Lack lack = Lack::kResult;
  for (const Work* work : Producers(slot)) {
    if (work->off_core) return Lack::kFarMemory;
    if (work->memory) lack = Lack::kMemory;
  }
  return lack;
}

std::optional<uint32_t> ReferenceBufferCore::AwaitedRegister(SlotId slot) const {
  const SlotState state = formation_.table().state[slot];
  if (!Live(slot) || (state != SlotState::kOffered && state != SlotState::kParked)) return std::nullopt;
  if (one_in_flight() || ByControlBits() || formation_.inserted(slot) > 0) return std::nullopt;
  const Position at = formation_.table().position[slot];
  const trace::v1::Instruction& instruction = program().instruction(at.pc());
  const std::vector<const Work*> writers = WritersOf(slot, true, true);
  for (const auto* numbers : {&instruction.src(), &instruction.dst()}) {
    for (const uint32_t number : *numbers) {
      for (const Work* work : writers) {
        if (work->writes.contains({at.depth(), number})) return number;
      }
    }
  }
  return std::nullopt;
}

bool ReferenceBufferCore::AllWaitForMemory() const {
  bool any = false;
  for (size_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].place < 0 || !formation_.is_live(static_cast<ThreadId>(t))) continue;
    const SlotId slot = formation_.slot_of(static_cast<ThreadId>(t));
    if (slot == kNoSlot) return false;
    if (BlockPaused(slot)) continue;
    const Condition condition = ConditionOf(slot);
    if (condition.what != kData || !condition.beyond_shared) return false;
    any = true;
  }
  return any;
}

namespace {

void CountOne(ReferenceCycleClasses& classes, int what, bool memory, bool only_write, bool paused = false) {
  ++classes.total;
  classes.paused += what == kReferencePolicy && paused;
  ++classes.cycles[what];
  if (what != kReferenceData) return;
  ++(memory ? classes.data_memory : classes.data_arithmetic);
  classes.data_waw += only_write;
}

}  // namespace

void ReferenceBufferCore::CountCycle() {
  CountPorts(AllWaitForMemory());
  CountWarps();
  CountThreads();
}

void ReferenceBufferCore::AddStatistics(ReferenceStatistics& sum) const {
  ReferenceSm::AddStatistics(sum);
  sum.without_scoreboard |= one_in_flight();
  AddCounters(fetch_->counters(), launch_.policies->fetch.info().counters, sum.fetch_counters);
}

void ReferenceBufferCore::CountPorts(bool all_wait) {
  const WarpTable& table = formation_.table();
  bool ready = false;
  bool waits = false;
  for (size_t port = 0; port < port_free_.size(); ++port) {
    ++statistics_.scheduler_total;
    ++statistics_.port_cycles;
    if (issued_[port] != kNoSlot) {
      ++statistics_.scheduler_issued;
      ++statistics_.busy_port_cycles;
      CountOne(statistics_.stalls, kReferenceIssue, false, false);
      continue;
    }
    Condition found;
    for (const auto& [hw_warp, last_port] : exited_hw_warps_) {
      if (last_port == port) found.what = kExit;
    }
    for (size_t i = 0; i < table.state.size(); ++i) {
      const SlotId slot = static_cast<SlotId>(i);
      if (!Live(slot) || table.port[slot] != port) continue;
      const Condition condition = ConditionOf(slot);
      if (condition.what > found.what) {
        found = condition;
      } else if (condition.what == found.what) {
        found.memory |= condition.memory;
        found.only_write &= condition.only_write;
        found.paused &= condition.paused;
      }
    }
    CountOne(statistics_.stalls, found.what, found.memory, found.only_write, found.paused);
    ready |= found.what == kStructural;
    waits |= found.what == kData;
    if (found.what == kStructural) {
      ++statistics_.scheduler_stall;
    } else if (all_wait) {
      ++statistics_.scheduler_memory;
    } else {
      ++statistics_.scheduler_idle;
    }
  }
  CountActivity(std::ranges::any_of(issued_, [](SlotId slot) { return slot != kNoSlot; }), ready, all_wait, waits, 1);
}

SmWarps ReferenceBufferCore::CountWarps() const {
  SmWarps warps;
  for (size_t i = 0; i < formation_.table().state.size(); ++i) {
    const SlotId slot = static_cast<SlotId>(i);
    if (!Live(slot)) continue;
    const Condition condition = ConditionOf(slot);
    if (condition.paused) {
      ++warps.paused;
    } else if (condition.what == kStructural) {
      ++warps.ready;
    } else if (condition.what == kBarrierClass) {
      ++warps.barrier;
    } else if (condition.what == kPolicy) {
      ++warps.held;
    } else if (condition.what == kData && condition.beyond_shared) {
      ++warps.memory;
    } else {
      ++warps.other;
    }
  }
  return warps;
}

// Warps are slots with threads, and hardware warps whose threads have all exited.
void ReferenceBufferCore::CountWarps() {
  const WarpTable& table = formation_.table();
  for (size_t port = 0; port < issued_.size(); ++port) {
    if (issued_[port] != kNoSlot) CountOne(statistics_.warp_cycles, kReferenceIssue, false, false);
  }
  for (size_t i = 0; i < table.state.size(); ++i) {
    const SlotId slot = static_cast<SlotId>(i);
    const auto issued = std::find(issued_.begin(), issued_.end(), slot);
    const bool is_that_warp = issued != issued_.end() && issued_formed_[issued - issued_.begin()] == table.formed[slot];
    if (!Live(slot) || is_that_warp) continue;
    const Condition condition = ConditionOf(slot);
    CountOne(statistics_.warp_cycles, condition.what, condition.memory, condition.only_write, condition.paused);
  }
  for (size_t hw_warp = 0; hw_warp < exited_hw_warps_.size(); ++hw_warp)
    CountOne(statistics_.warp_cycles, kExit, false, false);
}

// What the threads do in cycles in which no port issues or is held by a penalty.
void ReferenceBufferCore::CountThreads() {
  for (const Cycle free : port_free_) {
    if (free > now_) return;
  }
  ++statistics_.idle_cycles;
  for (size_t t = 0; t < threads_.size(); ++t) {
    if (threads_[t].place < 0) continue;
    ThreadState state = formation_.StateOfThread(static_cast<ThreadId>(t));
    const SlotId slot = formation_.slot_of(static_cast<ThreadId>(t));
    if (slot != kNoSlot && formation_.table().state[slot] == SlotState::kOffered && ConditionOf(slot).what == kData) {
      state = ThreadState::kDependency;
    }
    const bool offered = slot != kNoSlot && formation_.table().state[slot] == SlotState::kOffered;
    statistics_.idle_paused += offered && BlockPaused(slot);
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
