// The progress of runs on several threads, added up.
#ifndef HEDDLE_REPLAY_ENGINE_ORDER_RUN_PROGRESS_H_
#define HEDDLE_REPLAY_ENGINE_ORDER_RUN_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace heddle::replay {

// Calls `report` with the thread-instructions of all threads, from one thread at a time; an empty `report` never stops.
class RunProgress {
 public:
  using Report = std::function<bool(uint64_t done, uint64_t total)>;
  RunProgress(const Report& report, uint64_t total, size_t threads)
      : report_(report), total_(total), running_(threads, 0) {}

  // The present run of `thread` has done so many; false: stop.
  bool Update(size_t thread, uint64_t done) {
    const std::lock_guard lock(mutex_);
    running_[thread] = done;
    return Notify();
  }
  // The present run of `thread` has ended, with so many; false: stop. Of a short run this is the only report.
  bool Finish(size_t thread, uint64_t done) {
    const std::lock_guard lock(mutex_);
    running_[thread] = 0;
    finished_ += done;
    return Notify();
  }

 private:
  bool Notify() {
    uint64_t sum = finished_;
    for (const uint64_t run : running_) sum += run;
    if (report_) stopped_ = stopped_ || !report_(sum, total_);
    return !stopped_;
  }

  const Report& report_;
  const uint64_t total_;
  std::mutex mutex_;
  uint64_t finished_ = 0;
  std::vector<uint64_t> running_;  // by thread
  bool stopped_ = false;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_ORDER_RUN_PROGRESS_H_
