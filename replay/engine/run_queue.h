// Launches under configurations, handed out to threads.
#ifndef HEDDLE_REPLAY_ENGINE_RUN_QUEUE_H_
#define HEDDLE_REPLAY_ENGINE_RUN_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"

namespace heddle::replay {

// Hands out every (launch, configuration) once, to any number of threads, as early as possible in the order in which
// one thread does them: launch by launch, and within a launch by configuration, so that decoded data are shared. A
// configuration whose memory keeps its contents from launch to launch (`sequential`) has one launch under way at a
// time, in order. After an error only what comes before it in that order is still handed out: the error that counts is
// then the one that a single thread would have met.
class RunQueue {
 public:
  struct Run {
    size_t launch = 0;
    size_t configuration = 0;
  };

  RunQueue(size_t launches, size_t configurations, bool sequential)
      : launches_(launches), sequential_(sequential), next_(configurations, 0), busy_(configurations, false) {}

  // Blocks while there may be more to do; nothing if there is not.
  std::optional<Run> Take();
  void Done(const Run& run, const absl::Status& status);

  // Of the first run in order that failed; OK if none did.
  const absl::Status& status() const { return status_; }

 private:
  size_t Order(const Run& run) const { return run.launch * next_.size() + run.configuration; }
  // The earliest run that can be handed out now.
  std::optional<Run> Earliest() const;

  const size_t launches_;
  const bool sequential_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<size_t> next_;  // by configuration: the launch that has not been handed out yet
  std::vector<bool> busy_;    // by configuration, if sequential
  size_t under_way_ = 0;
  size_t limit_ = static_cast<size_t>(-1);  // order of the first run that failed
  absl::Status status_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_RUN_QUEUE_H_
