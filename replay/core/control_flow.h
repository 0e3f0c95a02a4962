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
  // `alarm` is set when status() becomes an error, for who asks in every cycle; it outlives this.
  ControlFlow(const LaunchContext& context, ThreadCursors& cursors, bool& alarm)
      : program_(context.program), steps_(context.steps.data()), cursors_(cursors), alarm_(alarm) {}

  // A terminator after which the threads of a slot may go different ways.
  static bool Decides(trace::v1::Terminator terminator);

  // Groups the lanes, whose threads are all at `at`, the last instruction of `block`, by where they go next. Takes the
  // threads' decisions and keeps their call stacks.
  void Next(const Lanes& lanes, Position at, const trace::Block& block, PathGroups& paths);

  // Next for a lone thread that falls through or decides a conditional branch: where it goes on. False if it is none of
  // these; nothing has been taken then.
  bool NextOfOne(const Lanes& lanes, Position at, const trace::Block& block, Position& next) {
    if (!std::has_single_bit(lanes.mask)) return false;
    uint32_t to = block.successor;
    if (block.terminator == trace::v1::Terminator::BRANCH_CONDITIONAL) {
      if (cursors_.TakeDecision(lanes.thread[std::countr_zero(lanes.mask)]) != 0) to = block.taken;
    } else if (block.terminator != trace::v1::Terminator::FALL_THROUGH) {
      return false;
    }
    next = Position(program_.block(to).first, at.depth());
    return true;
  }

  // Where the paths of the branch at `at` meet again: the immediate post-dominator; at a function's end the caller's
  // continuation, that of the lowest lane if they differ. Exit() for instructions that do not branch, and if the paths
  // meet nowhere.
  Position Reconvergence(const Lanes& lanes, Position at, const trace::Block& block) const;

  // Internal error if a recording has a decision that the program has not.
  const absl::Status& status() const { return status_; }

 private:
  void NextByDecision(const Lanes& lanes, Position at, const trace::Block& block, PathGroups& paths);
  void NextByReturn(const Lanes& lanes, Position at, PathGroups& paths);
  // Adds lanes to the group at `at`; the groups stay in ascending order.
  static void Add(PathGroups& paths, Position at, LaneMask lanes);
  void Fail(const std::string& what);

  const trace::Program& program_;
  const Step* const steps_;
  ThreadCursors& cursors_;
  bool& alarm_;
  absl::Status status_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_CONTROL_FLOW_H_
