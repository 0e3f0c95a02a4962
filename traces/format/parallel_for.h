// Independent pieces of work on several threads.
#ifndef HEDDLE_TRACES_FORMAT_PARALLEL_FOR_H_
#define HEDDLE_TRACES_FORMAT_PARALLEL_FOR_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace heddle::trace {

// Calls work(0) to work(count - 1), each once, on up to `threads` threads, the caller's among them, and returns when
// all are done. `work` must not throw, and what it does for one number must not depend on the others. Threads are
// started anew, which takes some 20 microseconds each: for work of milliseconds.
template <typename Work>
void ParallelFor(size_t count, unsigned threads, Work&& work) {
  if (threads <= 1 || count <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) work(i);
  };
  std::vector<std::thread> others;
  for (size_t t = 1; t < std::min<size_t>(threads, count); ++t) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
}

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_PARALLEL_FOR_H_
