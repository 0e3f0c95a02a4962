// Completions: where the threads of a slot go on, exits, and the release of barriers.
#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "replay/core/sm_core.h"

namespace heddle::replay {

using trace::v1::Terminator;

void SmCore::Complete(Cycle now) {
  bool blocked = pending_.active && !AskPolicy();
  if (waiting_first_ < waiting_.size()) {
    while (!blocked && waiting_first_ < waiting_.size()) {
      const WriteBack item = waiting_[waiting_first_++];
      blocked = !Process(item);
    }
    if (waiting_first_ == waiting_.size()) {
      waiting_.clear();
      waiting_first_ = 0;
    }
  }
  TakeDue(now);
}

void SmCore::TakeDue(Cycle now) {
  bool blocked = WriteBackBlocked();
  wheel_.Take(now, [&](const Completion& event) {
    if (blocked) {
      waiting_.push_back({event, false});
    } else {
      blocked = !ProcessCompletion(event);
    }
  });
}

bool SmCore::Process(const WriteBack& item) {
  return item.barrier_resume ? ResumeFromBarrier(item.event.slot) : ProcessCompletion(item.event);
}

bool SmCore::ProcessCompletion(const Completion& event) {
  last_progress_ = now_;
  const SlotId slot = event.slot;
  InFlight& state = in_flight_[slot];
  state.outstanding &= ~event.lanes;
  if (state.outstanding != 0) {
    if ((interests_ & kLaneReturns) == 0) return true;
    if (!policy_->LanesReturned(slot, event.lanes, formation_.editor())) return true;
    return TakeLanes(slot, event.lanes);
  }
  if (state.memory) {
    memory_threads_ -= static_cast<uint64_t>(formation_.table().thread_count(slot));
    state.memory = false;
  }
  if (state.off_core) {
    state.off_core = false;
    schedulers_[formation_.table().port[slot]]->LongLatencyEnded(slot);
  }
  if (state.inserted) {
    formation_.TookInserted(slot);
    formation_.Advance(slot, formation_.table().position[slot]);
    return true;
  }
  if (state.at_barrier) {
    if (state.barriers == 0) return ResumeFromBarrier(slot);
    formation_.WaitAtBarrier(slot);
    return true;
  }
  return FinishInstruction(slot, /*after_barrier=*/false);
}

// --- barriers

void SmCore::Release(Cycle now) {
  last_progress_ = now;
  for (const BlockId block : releasing_) {
    for (const auto& scheduler : schedulers_) scheduler->BarrierReleased(block);
  }
  releasing_.clear();
  std::sort(resuming_.begin(), resuming_.end());
  for (const SlotId slot : resuming_) {
    InFlight& state = in_flight_[slot];
    if (--state.barriers != 0 || formation_.table().state[slot] != SlotState::kBarrier) continue;
    if (pending_.active) {
      waiting_.push_back({{slot, 0}, true});
    } else {
      ResumeFromBarrier(slot);
    }
  }
  resuming_.clear();
}

bool SmCore::ResumeFromBarrier(SlotId slot) {
  InFlight& state = in_flight_[slot];
  state.at_barrier = false;
  bool ask = false;
  if ((interests_ & kBarriers) != 0) {
    const Pc pc = formation_.table().position[slot].pc();
    ask = policy_->BarrierReleased(slot, context_.barrier_ids[steps_[pc].barrier], formation_.editor());
  }
  return FinishInstruction(slot, ask);
}

// --- control

bool SmCore::FinishInstruction(SlotId slot, bool after_barrier) {
  const WarpTable& table = formation_.table();
  const Position at = table.position[slot];
  const Step& step = steps_[at.pc()];
  Lanes& lanes = pending_.lanes;
  if (!step.ends_block) {
    const Position next(at.pc() + 1, at.depth());
    const bool stopped = next == table.stop[slot];
    if (!after_barrier && !stopped && (interests_ & kEveryInstruction) == 0) {
      formation_.Advance(slot, next);
      return true;
    }
    lanes = table.lanes[slot];
    pending_.groups[0] = {next, lanes.mask, false};
    return Resolve(slot, 1, 0,
                   after_barrier ? ResolveReason::kBarrier
                   : stopped     ? ResolveReason::kStop
                                 : ResolveReason::kInstruction,
                   /*take=*/false);
  }
  const trace::Block& block = context_.program.block(step.block);
  LaneMask exited = 0;
  const int count = GroupLanes(table.lanes[slot], at, block, exited);
  ResolveReason reason = after_barrier ? ResolveReason::kBarrier : ResolveReason::kControl;
  if (count == 1 && exited == 0 && !after_barrier) {
    const Position next = pending_.groups[0].at;
    if (next == table.stop[slot]) {
      reason = ResolveReason::kStop;
    } else if ((interests_ & (kEveryInstruction | kEveryBlockEnd)) == 0) {
      formation_.Advance(slot, next);
      return true;
    } else if (!Decides(block.terminator)) {
      reason = ResolveReason::kBlockEnd;
    }
  }
  lanes = table.lanes[slot];
  return Resolve(slot, count, exited, reason, /*take=*/false);
}

bool SmCore::Decides(Terminator terminator) {
  return terminator == Terminator::BRANCH_CONDITIONAL || terminator == Terminator::BRANCH_WIDE ||
         terminator == Terminator::CALL_INDIRECT;
}

// Adds a lane to the group at `at`; the groups stay in ascending order.
void SmCore::AddToGroup(int& count, Position at, LaneMask lanes) {
  int place = count;
  while (place > 0 && pending_.groups[place - 1].at >= at) --place;
  if (place < count && pending_.groups[place].at == at) {
    pending_.groups[place].lanes |= lanes;
    return;
  }
  for (int i = count; i > place; --i) pending_.groups[i] = pending_.groups[i - 1];
  pending_.groups[place] = {at, lanes, false};
  ++count;
}

// Where each lane goes after the last instruction of a block; takes the threads' decisions.
int SmCore::GroupLanes(const Lanes& lanes, Position at, const trace::Block& block, LaneMask& exited) {
  const trace::Program& program = context_.program;
  const auto start = [&](uint32_t index, uint32_t depth) { return Position(program.block(index).first, depth); };
  PathGroup* const groups = pending_.groups.data();
  int count = 0;
  switch (block.terminator) {
    case Terminator::FALL_THROUGH:
      groups[0] = {start(block.successor, at.depth()), lanes.mask, false};
      return 1;
    case Terminator::BRANCH_CONDITIONAL: {
      const LaneMask taken = cursors_.TakeDecisions(lanes);
      const Position fall_through = start(block.successor, at.depth());
      const Position target = start(block.taken, at.depth());
      if (fall_through == target) {
        groups[0] = {target, lanes.mask, false};
        return 1;
      }
      const PathGroup sides[2] = {{fall_through, lanes.mask & ~taken, false}, {target, taken, true}};
      const int first = fall_through < target ? 0 : 1;
      if (sides[first].lanes != 0) groups[count++] = sides[first];
      if (sides[1 - first].lanes != 0) groups[count++] = sides[1 - first];
      return count;
    }
    case Terminator::CALL: {
      for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
        cursors_.call_stack(lanes.thread[std::countr_zero(mask)]).push_back(steps_[at.pc()].block);
      }
      groups[0] = {start(program.targets()[block.first_target], at.depth() + 1), lanes.mask, false};
      return 1;
    }
    case Terminator::BRANCH_WIDE:
    case Terminator::CALL_INDIRECT: {
      const bool call = block.terminator == Terminator::CALL_INDIRECT;
      for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
        const int lane = std::countr_zero(mask);
        const ThreadId thread = lanes.thread[lane];
        const uint32_t decision = cursors_.TakeWideDecision(thread);
        if (decision >= block.target_count) {
          Fail(absl::InternalError(absl::StrCat("a decision of ", decision, " at pc ", at.pc() * 8, " with ",
                                                block.target_count, " targets")));
          continue;
        }
        if (call) cursors_.call_stack(thread).push_back(steps_[at.pc()].block);
        AddToGroup(count, start(program.targets()[block.first_target + decision], at.depth() + call),
                   LaneMask{1} << lane);
      }
      return count;
    }
    case Terminator::RETURN: {
      for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
        const int lane = std::countr_zero(mask);
        std::vector<uint32_t>& stack = cursors_.call_stack(lanes.thread[lane]);
        if (stack.empty()) {
          Fail(absl::InternalError(absl::StrCat("a return without a call at pc ", at.pc() * 8)));
          continue;
        }
        const uint32_t caller = stack.back();
        stack.pop_back();
        AddToGroup(count, start(program.block(caller).successor, at.depth() - 1), LaneMask{1} << lane);
      }
      return count;
    }
    default:
      exited = lanes.mask;
      return 0;
  }
}

// The immediate post-dominator; at a function's end the caller's continuation, that of the lowest lane if they differ.
Position SmCore::Reconvergence(const Lanes& lanes, Position at, const trace::Block& block) const {
  const trace::Program& program = context_.program;
  if (!Decides(block.terminator)) return Position::Exit();
  if (block.terminator == Terminator::CALL_INDIRECT) {
    return Position(program.block(block.successor).first, at.depth());
  }
  if (block.post_dominator != trace::kNoBlock) return Position(program.block(block.post_dominator).first, at.depth());
  const std::vector<uint32_t>& stack = cursors_.call_stack(lanes.thread[std::countr_zero(lanes.mask)]);
  if (stack.empty()) return Position::Exit();
  return Position(program.block(program.block(stack.back()).successor).first, at.depth() - 1);
}

// --- resolve

bool SmCore::TakeLanes(SlotId slot, LaneMask taken) {
  const Position at = formation_.table().position[slot];
  const Step& step = steps_[at.pc()];
  InFlight& state = in_flight_[slot];
  pending_.lanes = formation_.table().lanes[slot];
  pending_.lanes.mask &= taken;
  if (state.memory) memory_threads_ -= static_cast<uint64_t>(std::popcount(pending_.lanes.mask));
  LaneMask exited = 0;
  int count = 1;
  if (step.ends_block) {
    count = GroupLanes(pending_.lanes, at, context_.program.block(step.block), exited);
  } else {
    pending_.groups[0] = {Position(at.pc() + 1, at.depth()), pending_.lanes.mask, false};
  }
  return Resolve(slot, count, exited, ResolveReason::kLanes, /*take=*/true);
}

// pending_.lanes and the first `count` elements of pending_.groups are set.
bool SmCore::Resolve(SlotId slot, int count, LaneMask exited, ResolveReason reason, bool take) {
  const Position at = formation_.table().position[slot];
  const Step& step = steps_[at.pc()];
  Resolution& resolution = pending_.resolution;
  resolution.slot = slot;
  resolution.from = at;
  resolution.reason = reason;
  resolution.groups = std::span(pending_.groups).first(static_cast<size_t>(count));
  resolution.exited = exited;
  resolution.lanes = &pending_.lanes;
  resolution.reconvergence = Position::Exit();
  resolution.conditional = false;
  resolution.uniform = step.uniform;
  if (step.ends_block) {
    const trace::Block& block = context_.program.block(step.block);
    resolution.conditional = Decides(block.terminator);
    if (resolution.conditional) resolution.reconvergence = Reconvergence(pending_.lanes, at, block);
  }
  pending_.take = take;
  pending_.active = true;
  if (take) {
    formation_.BeginTake(slot, pending_.lanes.mask, resolution.groups, exited);
  } else {
    formation_.BeginResolve(slot, resolution.groups, exited);
  }
  if (exited != 0) ExitThreads(pending_.lanes, exited);
  return AskPolicy();
}

bool SmCore::AskPolicy() {
  const Resolution& resolution = pending_.resolution;
  if (policy_->Resolve(resolution, formation_.editor()) == Verdict::kRefused) return false;
  pending_.active = false;
  last_progress_ = now_;
  if (pending_.take) {
    formation_.EndTake(pending_.lanes);
  } else {
    formation_.EndResolve(resolution.slot, pending_.lanes);
  }
  for (LaneMask mask = resolution.exited; mask != 0; mask &= mask - 1) {
    const BlockId id = formation_.block_of(pending_.lanes.thread[std::countr_zero(mask)]);
    if (blocks_[id].live == 0 && blocks_[id].resident) RetireBlock(id);
  }
  return true;
}

void SmCore::ExitThreads(const Lanes& lanes, LaneMask exited) {
  for (LaneMask mask = exited; mask != 0; mask &= mask - 1) {
    const ThreadId thread = lanes.thread[std::countr_zero(mask)];
    const BlockId id = formation_.block_of(thread);
    --blocks_[id].live;
    if (!cursors_.Finish(thread) && cursors_.ok()) {
      Fail(absl::InternalError(absl::StrCat("thread ", formation_.index_in_block(thread), " of block ",
                                            blocks_[id].linear_index, " exited before the end of its recording")));
    }
  }
  for (LaneMask mask = exited; mask != 0;) {
    const BlockId id = formation_.block_of(lanes.thread[std::countr_zero(mask)]);
    CheckBarriers(id);
    while (mask != 0 && formation_.block_of(lanes.thread[std::countr_zero(mask)]) == id) mask &= mask - 1;
  }
}

}  // namespace heddle::replay
