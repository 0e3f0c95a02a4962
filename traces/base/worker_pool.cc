#include "traces/base/worker_pool.h"

namespace heddle {

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  offered_.notify_all();
  for (std::thread& other : others_) other.join();
}

void WorkerPool::ForEach(size_t count, bool parallel, absl::FunctionRef<void(size_t)> work) {
  if (!parallel || threads_ <= 1 || count <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  while (others_.size() + 1 < threads_) others_.emplace_back([this] { Run(); });
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_ = &work;
    count_ = count;
    next_.store(0, std::memory_order_relaxed);
    ++rounds_;
  }
  offered_.notify_all();
  Take(work, count);
  std::unique_lock<std::mutex> lock(mutex_);
  work_ = nullptr;  // who has not woken by now need not
  left_.wait(lock, [this] { return taking_ == 0; });
}

void WorkerPool::Take(const absl::FunctionRef<void(size_t)>& work, size_t count) {
  for (size_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count;) work(i);
}

void WorkerPool::Run() {
  uint64_t latest_round = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    offered_.wait(lock, [&] { return stop_ || (work_ != nullptr && rounds_ != latest_round); });
    if (stop_) return;
    latest_round = rounds_;
    ++taking_;
    const absl::FunctionRef<void(size_t)>& work = *work_;
    const size_t count = count_;
    lock.unlock();
    Take(work, count);
    lock.lock();
    if (--taking_ == 0) left_.notify_one();
  }
}

}  // namespace heddle
