// Which thread starts and goes on next, and what it starts with.
#include "tracegen/execute/threads/thread_scheduler.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

#include "tests/tracegen/execute/threads/scheduler_fixture.h"

namespace heddle::tracegen {
namespace {

using Scheduler = SchedulerTest;

// What each thread starts with, in the order in which they start.
std::vector<ThreadOwn> Start(ThreadScheduler& threads) {
  std::vector<ThreadOwn> all;
  ThreadContext context;
  threads.BeginBlock();
  while (threads.has_new()) {
    threads.StartNext(context);
    EXPECT_EQ(context.own.linear_tid, threads.running());
    EXPECT_EQ(threads.current().state, ThreadState::kRunning);
    all.push_back(context.own);
  }
  return all;
}

TEST_F(Scheduler, ThreadsStartInOrderWithTheirIndicesAndLocalMemory) {
  Geometry geometry;
  geometry.block[0] = 3;
  geometry.block[1] = 2;
  geometry.block[2] = 2;
  constexpr uint32_t kSlot = 5;
  threads_.BeginLaunch(geometry, kSlot);
  for (int block = 0; block < 2; ++block) {
    const std::vector<ThreadOwn> all = Start(threads_);
    ASSERT_EQ(all.size(), 12u);
    for (uint32_t t = 0; t < 12; ++t) {
      EXPECT_EQ(all[t].linear_tid, t);
      EXPECT_EQ(all[t].tid[0], t % 3);
      EXPECT_EQ(all[t].tid[1], t / 3 % 2);
      EXPECT_EQ(all[t].tid[2], t / 6);
      EXPECT_EQ(reinterpret_cast<uint64_t>(all[t].local_pointer), kLocalBase + (kSlot * 12 + t) * kLocalStride);
      EXPECT_EQ(all[t].local_limit - all[t].local_pointer, static_cast<ptrdiff_t>(kLocalBytes));
    }
  }
}

TEST_F(Scheduler, RandomOrdersFollowFromTheSeed) {
  geometry_.block[0] = 8;
  geometry_.block[1] = 8;
  const auto order = [&](ThreadScheduler& threads) {
    std::vector<uint32_t> order;
    for (const ThreadOwn& own : Start(threads)) {
      EXPECT_EQ(own.tid[0] + 8 * own.tid[1], own.linear_tid);
      order.push_back(own.linear_tid);
    }
    EXPECT_EQ(std::set<uint32_t>(order.begin(), order.end()).size(), 64u);
    return order;
  };
  ThreadScheduler one(1);
  ThreadScheduler other(2);
  one.BeginLaunch(geometry_, 0);
  other.BeginLaunch(geometry_, 0);
  one.Reseed();
  other.Reseed();
  const std::vector<uint32_t> first = order(one);
  EXPECT_NE(first, Range(0, 64));
  EXPECT_NE(order(one), first);  // the next block
  EXPECT_NE(order(other), first);
  one.Reseed();
  EXPECT_EQ(order(one), first);
}

TEST_F(Scheduler, ThreadsGoOnInTheOrderOfTheirRelease) {
  BeginBlock(4);
  EXPECT_FALSE(threads_.all_new());
  for (const uint32_t thread : {3, 1, 2}) threads_.Release(thread);
  EXPECT_EQ(threads_[3].state, ThreadState::kReady);
  EXPECT_EQ(TakeReady(), (std::vector<uint32_t>{3, 1, 2}));
}

TEST_F(Scheduler, CountsThoseThatHaveExited) {
  BeginBlock(3);
  EXPECT_EQ(threads_.alive(), 3u);
  threads_.SetRunning(1);
  threads_.ExitRunning();
  EXPECT_EQ(threads_[1].state, ThreadState::kExited);
  EXPECT_EQ(threads_.exited(), 1u);
  EXPECT_EQ(threads_.alive(), 2u);
  threads_.BeginBlock();
  EXPECT_EQ(threads_.alive(), 3u);
  EXPECT_TRUE(threads_.all_new());
}

}  // namespace
}  // namespace heddle::tracegen
