// Every piece of work is done once, whoever does it, and all of it before the caller goes on.
#include "traces/base/worker_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace heddle::trace {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

class WorkerPoolTest : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Threads, WorkerPoolTest, ::testing::Values(1, 2, 3, 8));

TEST_P(WorkerPoolTest, EachNumberIsGivenOnceInEveryRound) {
  WorkerPool pool(GetParam());
  for (size_t count = 0; count < 300; ++count) {
    std::vector<int> given(count);  // not atomic: each element belongs to one call
    pool.ForEach(count, /*parallel=*/true, [&](size_t i) { ++given[i]; });
    ASSERT_THAT(given, Each(1));
  }
}

TEST_P(WorkerPoolTest, LongWorkIsWaitedFor) {
  WorkerPool pool(GetParam());
  for (int round = 0; round < 5; ++round) {
    std::vector<int> done(12);
    pool.ForEach(done.size(), /*parallel=*/true, [&](size_t i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(i % 3));
      done[i] = 1;
    });
    ASSERT_THAT(done, Each(1));
  }
}

TEST(WorkerPoolUseTest, AllThreadsTakePart) {
  WorkerPool pool(3);
  std::mutex mutex;
  std::condition_variable arrived;
  std::set<std::thread::id> threads;
  // Nobody finishes before all are there.
  pool.ForEach(3, /*parallel=*/true, [&](size_t) {
    std::unique_lock<std::mutex> lock(mutex);
    threads.insert(std::this_thread::get_id());
    arrived.notify_all();
    arrived.wait(lock, [&] { return threads.size() == 3; });
  });
  EXPECT_THAT(threads, SizeIs(3));
}

TEST(WorkerPoolUseTest, WorkThatIsNotWorthThreadsStaysWithTheCaller) {
  WorkerPool pool(4);
  std::set<std::thread::id> threads;
  pool.ForEach(100, /*parallel=*/false, [&](size_t) { threads.insert(std::this_thread::get_id()); });
  EXPECT_THAT(threads, ::testing::ElementsAre(std::this_thread::get_id()));
}

TEST(WorkerPoolUseTest, APoolThatNeverWorkedEnds) { const WorkerPool pool(4); }

}  // namespace
}  // namespace heddle::trace
