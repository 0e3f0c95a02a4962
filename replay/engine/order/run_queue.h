// Launches of traces under configurations, handed out to threads.
#ifndef HEDDLE_REPLAY_ENGINE_ORDER_RUN_QUEUE_H_
#define HEDDLE_REPLAY_ENGINE_ORDER_RUN_QUEUE_H_

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace heddle::replay {

// Hands out every (trace, launch, configuration) once, to any number of threads, as early as possible in the order in
// which one thread does them: trace by trace, launch by launch, and within a launch by configuration, so that decoded
// data are shared. A configuration that keeps something from launch to launch (`in_order`) has one launch of a trace
// under way at a time, in order. Of a trace under a configuration nothing is handed out any more once one of
// its launches has failed; the others go on.
class RunQueue {
 public:
  struct Run {
    size_t trace = 0;
    size_t launch = 0;  // of the trace
    size_t configuration = 0;
  };

  // `launches`: how many of each trace are run. `in_order`: by configuration.
  RunQueue(const std::vector<size_t>& launches, std::vector<bool> in_order);

  // Blocks while there may be more to do; nothing if there is not.
  std::optional<Run> Take();
  void Done(const Run& run, bool good);
  // Nothing is handed out any more.
  void Stop();

  // Whether all launches of the trace under the configuration are done, and good. Only when no thread takes any more.
  bool Ended(size_t trace, size_t configuration) const;

 private:
  // The launches of one trace under one configuration.
  struct Stream {
    size_t next = 0;  // the launch that has not been handed out yet
    size_t good = 0;  // that are done
    bool busy = false;
    bool failed = false;
  };
  Stream& StreamOf(const Run& run) { return streams_[run.trace * configurations_ + run.configuration]; }
  size_t Order(const Run& run) const {
    return (launches_before_[run.trace] + run.launch) * configurations_ + run.configuration;
  }
  // The earliest run that can be handed out now.
  std::optional<Run> Earliest() const;

  const size_t configurations_;
  const std::vector<bool> in_order_;     // by configuration
  std::vector<size_t> launches_before_;  // by trace, and of all at the end: launches of the traces before it
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Stream> streams_;  // by trace, then configuration
  size_t under_way_ = 0;
  bool stopped_ = false;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_ORDER_RUN_QUEUE_H_
