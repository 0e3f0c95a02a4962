// Threads of a block whose code is a test.
#ifndef HEDDLE_TESTS_TRACEGEN_EXECUTE_THREADS_SCHEDULER_FIXTURE_H_
#define HEDDLE_TESTS_TRACEGEN_EXECUTE_THREADS_SCHEDULER_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tracegen/execute/launch/geometry.h"
#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

class SchedulerTest : public ::testing::Test {
 protected:
  // A block of so many threads, all of which have begun; thread 0 is the first one to be made the running one.
  void BeginBlock(uint32_t threads) {
    geometry_.block[0] = threads;
    threads_.BeginLaunch(geometry_, 0);
    threads_.BeginBlock();
    while (threads_.has_new()) threads_.StartNext(context_);
  }
  // The threads that are ready, in their order, which are none afterwards.
  std::vector<uint32_t> TakeReady() {
    std::vector<uint32_t> taken;
    while (!threads_.ready().empty()) taken.push_back(threads_.TakeReady());
    return taken;
  }
  static std::vector<uint32_t> Range(uint32_t first, uint32_t end) {
    std::vector<uint32_t> range;
    for (uint32_t t = first; t < end; ++t) range.push_back(t);
    return range;
  }

  Geometry geometry_;
  ThreadContext context_;
  ThreadScheduler threads_{std::nullopt};
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_EXECUTE_THREADS_SCHEDULER_FIXTURE_H_
