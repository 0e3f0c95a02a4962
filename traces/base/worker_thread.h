// One piece of work at a time, on a thread of its own.
#ifndef HEDDLE_TRACES_BASE_WORKER_THREAD_H_
#define HEDDLE_TRACES_BASE_WORKER_THREAD_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace heddle {

// The thread starts with the first work, and stays, with the memory that its thread-local buffers hold. All functions
// are for one caller.
class WorkerThread {
 public:
  WorkerThread() = default;
  // Waits for what is under way.
  ~WorkerThread();
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  // Returns at once. `work` must not throw; what came before must have been waited for.
  void Start(std::function<void()> work);
  // Returns when the latest work, if any, is done; what it wrote may be read then.
  void Wait();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;  // empty = there is nothing to do
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_WORKER_THREAD_H_
