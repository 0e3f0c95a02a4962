// The threads of the block that runs: in what state each is, and which one is to go on.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_THREAD_SCHEDULER_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_THREAD_SCHEDULER_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "tracegen/execute/launch/geometry.h"
#include "tracegen/execute/order/ready_ring.h"
#include "tracegen/execute/threads/device_thread.h"
#include "tracegen/instrument/thread_context.h"
#include "traces/base/random.h"

namespace heddle::tracegen {

// Threads begin in ascending order. Those that can go on do so in the order in which they have become able to. With a
// seed, both orders are pseudo-random and follow from the seed. It does not know stacks, barriers or records: whoever
// lets threads wait says so in DeviceThread::state, and calls Release when a thread can go on.
class ThreadScheduler {
 public:
  static constexpr uint32_t kNoThread = ~uint32_t{0};

  explicit ThreadScheduler(std::optional<uint64_t> seed) : seed_(seed) {}

  // A launch begins. `slot`: which of the blocks that are live at once this is, for the place of local memory.
  void BeginLaunch(const Geometry& geometry, uint32_t slot);
  // The random numbers start over.
  void Reseed() {
    if (seed_.has_value()) random_ = Random(*seed_);
  }
  // A block begins: no thread has started.
  void BeginBlock();

  uint32_t count() const { return static_cast<uint32_t>(threads_.size()); }
  uint32_t exited() const { return exited_; }
  // Threads that have not exited.
  uint32_t alive() const { return count() - exited_; }
  // Whether random orders are asked for, and their numbers: whoever draws one shifts those that follow.
  bool is_random() const { return seed_.has_value(); }
  Random& random() { return random_; }

  DeviceThread& operator[](uint32_t thread) { return threads_[thread]; }
  const DeviceThread& operator[](uint32_t thread) const { return threads_[thread]; }
  // The thread that runs, or ran last.
  uint32_t running() const { return running_; }
  DeviceThread& current() { return threads_[running_]; }

  // Whether there is a thread that has not started; and whether all are that.
  bool has_new() const { return next_ < threads_.size(); }
  bool all_new() const { return next_ == 0; }
  // Starts the next thread: it is the one that runs, and `context` holds what it begins with. Needs has_new().
  void StartNext(ThreadContext& context);
  // `thread` runs from here on. What it has kept is still to be put into the context.
  DeviceThread& SetRunning(uint32_t thread) {
    running_ = thread;
    threads_[thread].state = ThreadState::kRunning;
    return threads_[thread];
  }
  // The running thread ends.
  void ExitRunning() {
    threads_[running_].state = ThreadState::kExited;
    ++exited_;
  }

  // The thread can go on: it gets its turn when those before it had theirs.
  void Release(uint32_t thread) {
    threads_[thread].state = ThreadState::kReady;
    ready_.Push(thread);
  }
  // The thread that goes on next; needs one that is ready.
  uint32_t TakeReady() { return ready_.Pop(); }
  // TakeReady in random order.
  uint32_t TakeRandomReady() {
    ready_.SwapFront(static_cast<uint32_t>(random_.Below(ready_.size())));
    return ready_.Pop();
  }
  ReadyRing& ready() { return ready_; }
  const ReadyRing& ready() const { return ready_; }

 private:
  // Indices of the thread that starts.
  void FindIndices(uint32_t thread, uint32_t* tid);

  const std::optional<uint64_t> seed_;
  Random random_{0};
  std::vector<DeviceThread> threads_;
  uint32_t block_[3] = {1, 1, 1};  // its dimensions
  uint64_t local_base_ = 0;        // local memory of thread 0
  uint32_t next_ = 0;              // first, in the order in which they start, that has not started
  uint32_t next_tid_[3] = {};
  uint32_t exited_ = 0;
  uint32_t running_ = 0;
  std::vector<uint32_t> start_order_;  // empty = ascending
  ReadyRing ready_;
};

inline void ThreadScheduler::FindIndices(uint32_t thread, uint32_t* tid) {
  // Threads usually start in order, so the indices count up; no division in the path of short kernels.
  if (!start_order_.empty()) {
    tid[0] = thread % block_[0];
    tid[1] = thread / block_[0] % block_[1];
    tid[2] = thread / block_[0] / block_[1];
    return;
  }
  std::copy(std::begin(next_tid_), std::end(next_tid_), tid);
  if (++next_tid_[0] == block_[0]) {
    next_tid_[0] = 0;
    if (++next_tid_[1] == block_[1]) {
      next_tid_[1] = 0;
      ++next_tid_[2];
    }
  }
}

inline void ThreadScheduler::StartNext(ThreadContext& context) {
  const uint32_t place = next_++;
  const uint32_t thread = start_order_.empty() ? place : start_order_[place];
  ThreadOwn& own = SetRunning(thread).own;
  own = ThreadOwn{};
  own.linear_tid = thread;
  FindIndices(thread, own.tid);
  const uint64_t local = local_base_ + thread * kLocalStride;
  own.local_pointer = reinterpret_cast<char*>(local);
  own.local_limit = reinterpret_cast<char*>(local + kLocalBytes);
  context.own = own;
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_THREAD_SCHEDULER_H_
