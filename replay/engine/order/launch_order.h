// Which launches of a trace wait for which.
#ifndef HEDDLE_REPLAY_ENGINE_ORDER_LAUNCH_ORDER_H_
#define HEDDLE_REPLAY_ENGINE_ORDER_LAUNCH_ORDER_H_

#include <cstddef>
#include <span>
#include <vector>

#include "traces/format/read/reader.h"

namespace heddle::replay {

// How far the launches of a replay have come, by their dependences (Launch.depends_on). Launches of the trace that are
// not replayed take no time: who waits for one waits for what that one waits for.
class LaunchOrder {
 public:
  // `launches`: those that are replayed, of the reader's, in order. A launch is named by its index in them.
  LaunchOrder(const trace::TraceReader& reader, std::span<const trace::LaunchView* const> launches);

  // Launches that no launch has to end for any more, and that have not been taken, in order; they are taken now.
  std::vector<size_t> TakeReady();
  // A launch that was taken has ended.
  void End(size_t launch);
  // Whether every launch has ended.
  bool done() const { return ended_ == waits_.size(); }

 private:
  std::vector<size_t> waits_;                 // by launch: how many have to end before; kTaken
  std::vector<std::vector<size_t>> waiting_;  // by launch: who waits for it
  size_t ended_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_ORDER_LAUNCH_ORDER_H_
