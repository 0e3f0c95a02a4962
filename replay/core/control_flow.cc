#include "replay/core/control_flow.h"

#include <bit>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

using trace::v1::Terminator;

bool ControlFlow::Decides(Terminator terminator) {
  return terminator == Terminator::BRANCH_CONDITIONAL || terminator == Terminator::BRANCH_WIDE ||
         terminator == Terminator::CALL_INDIRECT;
}

void ControlFlow::Fail(const std::string& what) {
  if (status_.ok()) status_ = absl::InternalError(what);
  error_flag_ = true;
}

void ControlFlow::Add(PathGroups& paths, Position at, LaneMask lanes) {
  int place = paths.count;
  while (place > 0 && paths.group[place - 1].at >= at) --place;
  if (place < paths.count && paths.group[place].at == at) {
    paths.group[place].lanes |= lanes;
    return;
  }
  for (int i = paths.count; i > place; --i) paths.group[i] = paths.group[i - 1];
  paths.group[place] = {at, lanes, false};
  ++paths.count;
}

void ControlFlow::Next(const Lanes& lanes, Position at, const trace::Block& block, PathGroups& paths) {
  paths.count = 0;
  paths.exited = 0;
  switch (block.terminator) {
    case Terminator::FALL_THROUGH:
      paths.SetOne(StartOf(SuccessorOf(block, /*taken=*/false), at), lanes.mask);
      return;
    case Terminator::BRANCH_CONDITIONAL: {
      const LaneMask taken = cursors_.TakeDecisions(lanes);
      const Position fall_through = StartOf(SuccessorOf(block, /*taken=*/false), at);
      const Position target = StartOf(SuccessorOf(block, /*taken=*/true), at);
      if (fall_through == target) {
        paths.SetOne(target, lanes.mask);
        return;
      }
      const PathGroup ways[] = {{fall_through, lanes.mask & ~taken, false}, {target, taken, true}};
      const int first = target < fall_through ? 1 : 0;
      for (const int way : {first, 1 - first}) {
        if (ways[way].lanes != 0) paths.group[paths.count++] = ways[way];
      }
      return;
    }
    case Terminator::CALL:
      ForEachLane(lanes.mask,
                  [&](int lane) { cursors_.call_stack(lanes.thread[lane]).push_back(steps_[at.pc()].block); });
      paths.SetOne(Position(program_.block(program_.targets()[block.first_target]).first, at.depth() + 1), lanes.mask);
      return;
    case Terminator::BRANCH_WIDE:
    case Terminator::CALL_INDIRECT:
      NextByDecision(lanes, at, block, paths);
      return;
    case Terminator::RETURN:
      NextByReturn(lanes, at, paths);
      return;
    default:
      paths.exited = lanes.mask;
      if (block.taken != trace::kNoBlock) ExitUnderGuard(lanes, at, block, paths);
  }
}

void ControlFlow::ExitUnderGuard(const Lanes& lanes, Position at, const trace::Block& block, PathGroups& paths) {
  const LaneMask exited = cursors_.LanesUnderGuard(lanes);
  if (exited == lanes.mask) return;
  paths.SetOne(StartOf(block.taken, at), lanes.mask & ~exited);
  paths.exited = exited;
}

void ControlFlow::NextByDecision(const Lanes& lanes, Position at, const trace::Block& block, PathGroups& paths) {
  const bool call = block.terminator == Terminator::CALL_INDIRECT;
  ForEachLane(lanes.mask, [&](int lane) {
    const ThreadId thread = lanes.thread[lane];
    const uint32_t decision = cursors_.TakeWideDecision(thread);
    if (decision >= block.target_count) {
      Fail(absl::StrCat("a decision of ", decision, " at pc ", at.pc() * 8, " with ", block.target_count, " targets"));
      return;
    }
    if (call) cursors_.call_stack(thread).push_back(steps_[at.pc()].block);
    const uint32_t target = program_.targets()[block.first_target + decision];
    Add(paths, Position(program_.block(target).first, at.depth() + call), LaneMask{1} << lane);
  });
}

void ControlFlow::NextByReturn(const Lanes& lanes, Position at, PathGroups& paths) {
  ForEachLane(lanes.mask, [&](int lane) {
    std::vector<uint32_t>& stack = cursors_.call_stack(lanes.thread[lane]);
    if (stack.empty()) {
      Fail(absl::StrCat("a return without a call at pc ", at.pc() * 8));
      return;
    }
    const uint32_t caller = stack.back();
    stack.pop_back();
    Add(paths, Position(program_.block(program_.block(caller).successor).first, at.depth() - 1), LaneMask{1} << lane);
  });
}

Position ControlFlow::Reconvergence(const Lanes& lanes, Position at, const trace::Block& block) const {
  if (!Decides(block.terminator)) return Position::Exit();
  if (block.terminator == Terminator::CALL_INDIRECT) {
    return Position(program_.block(block.successor).first, at.depth());
  }
  if (block.post_dominator != trace::kNoBlock) return Position(program_.block(block.post_dominator).first, at.depth());
  const std::vector<uint32_t>& stack = cursors_.call_stack(lanes.thread[std::countr_zero(lanes.mask)]);
  if (stack.empty()) return Position::Exit();
  return Position(program_.block(program_.block(stack.back()).successor).first, at.depth() - 1);
}

}  // namespace heddle::replay
