// Where threads go after the last instruction of a basic block.
#ifndef HEDDLE_REPLAY_CORE_CONTROL_FLOW_H_
#define HEDDLE_REPLAY_CORE_CONTROL_FLOW_H_

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "replay/core/launch_context.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/types.h"
#include "replay/trace/thread_cursors.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// The threads of a slot by where they go next.
struct PathGroups {
  std::array<PathGroup, kMaxLanes> group;  // the first `count`, ascending by position
  int count = 0;
  LaneMask exited = 0;  // lanes whose thread has ended

  std::span<const PathGroup> live() const { return std::span(group).first(static_cast<size_t>(count)); }
  void SetOne(Position at, LaneMask lanes) {
    group[0] = {at, lanes, false};
    count = 1;
    exited = 0;
  }
};

// Reads the threads' recorded decisions. Not for use by two SMs: the cursors belong to one.
class ControlFlow {
 public:
  // `error_flag` is set when status() becomes an error, for who asks in every cycle; it outlives this.
  ControlFlow(const LaunchContext& context, ThreadCursors& cursors, bool& error_flag)
      : program_(context.program), steps_(context.steps.data()), cursors_(cursors), error_flag_(error_flag) {}

  // A terminator after which the threads of a slot may go different ways.
  static bool Decides(trace::v1::Terminator terminator);

  // Groups the lanes, whose threads are all at `at`, the last instruction of `block`, by where they go next. Takes the
  // threads' decisions and keeps their call stacks.
  void Next(const Lanes& lanes, Position at, const trace::Block& block, PathGroups& paths);

  // Next for threads that go on together behind a block that falls through or branches conditionally: where. False if
  // they part, would come to `stop`, or the block ends in another way; nothing has been taken then.
  bool NextTogether(const Lanes& lanes, Position at, const trace::Block& block, Position stop, Position& next) {
    bool branches = false;
    if (!FallsThroughOrBranches(block, branches)) return false;
    const LaneMask taken = branches ? cursors_.PeekDecisions(lanes) : 0;
    if (taken != 0 && taken != lanes.mask) return false;
    next = StartOf(SuccessorOf(block, taken != 0), at);
    if (next == stop) return false;
    if (branches) cursors_.TakeDecisions(lanes);
    return true;
  }
  // NextTogether for a lone thread that has nowhere to stop.
  bool NextOfOne(const Lanes& lanes, Position at, const trace::Block& block, Position& next) {
    bool branches = false;
    if (!std::has_single_bit(lanes.mask) || !FallsThroughOrBranches(block, branches)) return false;
    const bool taken = branches && cursors_.TakeDecision(lanes.thread[std::countr_zero(lanes.mask)]) != 0;
    next = StartOf(SuccessorOf(block, taken), at);
    return true;
  }

  // Where the paths of the branch at `at` meet again: the immediate post-dominator; at a function's end the caller's
  // continuation, that of the lowest lane if they differ. Exit() for instructions that do not branch, and if the paths
  // meet nowhere.
  Position Reconvergence(const Lanes& lanes, Position at, const trace::Block& block) const;

  // Internal error if a recording has a decision that the program has not.
  const absl::Status& status() const { return status_; }

 private:
  // The rules of where a conditional branch goes stand here once.
  static bool FallsThroughOrBranches(const trace::Block& block, bool& branches) {
    branches = block.terminator == trace::v1::Terminator::BRANCH_CONDITIONAL;
    return branches || block.terminator == trace::v1::Terminator::FALL_THROUGH;
  }
  static uint32_t SuccessorOf(const trace::Block& block, bool taken) { return taken ? block.taken : block.successor; }
  // The first instruction of a block, at the call depth of `at`.
  Position StartOf(uint32_t block, Position at) const { return Position(program_.block(block).first, at.depth()); }
  void NextByDecision(const Lanes& lanes, Position at, const trace::Block& block, PathGroups& paths);
  // The block's exit is guarded: see trace::Predicate.
  void ExitUnderGuard(const Lanes& lanes, Position at, const trace::Block& block, PathGroups& paths);
  void NextByReturn(const Lanes& lanes, Position at, PathGroups& paths);
  // Adds lanes to the group at `at`; the groups stay in ascending order.
  static void Add(PathGroups& paths, Position at, LaneMask lanes);
  void Fail(const std::string& what);

  const trace::Program& program_;
  const Step* const steps_;
  ThreadCursors& cursors_;
  bool& error_flag_;
  absl::Status status_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_CONTROL_FLOW_H_
