// Independent pieces of work on several threads.
#ifndef HEDDLE_TRACES_BASE_WORKER_POOL_H_
#define HEDDLE_TRACES_BASE_WORKER_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"

namespace heddle {

// The threads start with the first work that is worth them, and stay, with the memory that their thread-local buffers
// hold. All functions are for one caller.
class WorkerPool {
 public:
  // Of so many threads, the caller's among them.
  explicit WorkerPool(unsigned threads) : threads_(threads) {}
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Calls work(0) to work(count - 1), each once, on the caller's thread and, if `parallel`, on the others, and returns
  // when all are done. `work` must not throw, and what it does for one number must not depend on the others.
  void ForEach(size_t count, bool parallel, absl::FunctionRef<void(size_t)> work);

 private:
  void Run();
  // Takes numbers until there are none.
  void Take(const absl::FunctionRef<void(size_t)>& work, size_t count);

  const unsigned threads_;
  std::vector<std::thread> others_;
  std::mutex mutex_;
  std::condition_variable offered_;                        // there is work, or an end
  std::condition_variable left_;                           // nobody takes part any more
  const absl::FunctionRef<void(size_t)>* work_ = nullptr;  // null = nobody may begin to take part
  size_t count_ = 0;
  std::atomic<size_t> next_ = 0;
  uint64_t rounds_ = 0;  // calls so far
  unsigned taking_ = 0;  // others that take part
  bool stop_ = false;
};

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_WORKER_POOL_H_
