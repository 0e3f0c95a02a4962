// The order in which launches under configurations are handed out to threads.
#include "replay/engine/order/run_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace heddle::replay {
namespace {

using ::testing::ElementsAre;

std::string Text(const std::optional<RunQueue::Run>& run) {
  return run.has_value() ? absl::StrCat("launch ", run->launch, " configuration ", run->configuration) : "nothing";
}

TEST(RunQueue, OneThreadGoesLaunchByLaunchOverTheConfigurations) {
  for (const bool sequential : {false, true}) {
    RunQueue queue({2}, {sequential, sequential});
    std::vector<std::string> order;
    while (const std::optional<RunQueue::Run> run = queue.Take()) {
      order.push_back(Text(run));
      queue.Done(*run, true);
    }
    EXPECT_THAT(order, ElementsAre("launch 0 configuration 0", "launch 0 configuration 1", "launch 1 configuration 0",
                                   "launch 1 configuration 1"));
  }
}

TEST(RunQueue, LaunchesOfASequentialConfigurationWaitForOneAnother) {
  RunQueue queue({2}, {true, true});
  const auto first = queue.Take();
  const auto second = queue.Take();
  EXPECT_EQ(Text(first), "launch 0 configuration 0");
  EXPECT_EQ(Text(second), "launch 0 configuration 1");
  queue.Done(*second, true);
  const auto third = queue.Take();
  EXPECT_EQ(Text(third), "launch 1 configuration 1") << "the other configuration's first launch is under way";
  queue.Done(*first, true);
  EXPECT_EQ(Text(queue.Take()), "launch 1 configuration 0");
}

TEST(RunQueue, OfTwoConfigurationsOneMayBeInOrderAlone) {
  RunQueue queue({2}, {true, false});
  EXPECT_EQ(Text(queue.Take()), "launch 0 configuration 0");
  EXPECT_EQ(Text(queue.Take()), "launch 0 configuration 1");
  EXPECT_EQ(Text(queue.Take()), "launch 1 configuration 1") << "launch 1 of configuration 0 waits for its launch 0";
}

TEST(RunQueue, IndependentLaunchesDoNotWait) {
  RunQueue queue({2}, {false});
  EXPECT_EQ(Text(queue.Take()), "launch 0 configuration 0");
  EXPECT_EQ(Text(queue.Take()), "launch 1 configuration 0");
}

TEST(RunQueue, TracesFollowOneAnotherAndAreIndependent) {
  RunQueue queue({2, 0, 1}, {true});
  const auto first = queue.Take();
  EXPECT_EQ(Text(first), "launch 0 configuration 0");
  const auto second = queue.Take();
  EXPECT_EQ(Text(second), "launch 0 configuration 0") << "the first trace's second launch has to wait";
  EXPECT_EQ(second->trace, 2u) << "the second trace has no launch";
  queue.Done(*first, true);
  const auto third = queue.Take();
  EXPECT_EQ(Text(third), "launch 1 configuration 0");
  EXPECT_EQ(third->trace, 0u);
  queue.Done(*second, true);
  queue.Done(*third, true);
  EXPECT_EQ(Text(queue.Take()), "nothing");
  for (size_t trace = 0; trace < 3; ++trace) EXPECT_TRUE(queue.Ended(trace, 0));
}

TEST(RunQueue, AfterAFailureOnlyThatTraceUnderThatConfigurationIsLeftAlone) {
  for (const bool sequential : {false, true}) {
    RunQueue queue({2, 1}, {sequential, sequential});
    std::vector<std::string> order;
    while (const std::optional<RunQueue::Run> run = queue.Take()) {
      order.push_back(absl::StrCat("trace ", run->trace, " ", Text(run)));
      queue.Done(*run, !(run->trace == 0 && run->launch == 0 && run->configuration == 1));
    }
    EXPECT_THAT(order, ElementsAre("trace 0 launch 0 configuration 0", "trace 0 launch 0 configuration 1",
                                   "trace 0 launch 1 configuration 0", "trace 1 launch 0 configuration 0",
                                   "trace 1 launch 0 configuration 1"));
    EXPECT_TRUE(queue.Ended(0, 0));
    EXPECT_FALSE(queue.Ended(0, 1));
    EXPECT_TRUE(queue.Ended(1, 1));
  }
}

TEST(RunQueue, LaunchesBeforeOneThatFailedAreAllHandedOut) {
  RunQueue queue({3}, {false});
  const auto first = queue.Take();
  const auto second = queue.Take();
  queue.Done(*second, false);
  queue.Done(*first, true);
  EXPECT_EQ(first->launch, 0u) << "whatever comes before a failure has run, so that the first failure is known";
  EXPECT_EQ(Text(queue.Take()), "nothing");
}

TEST(RunQueue, NothingIsHandedOutOnceStopped) {
  RunQueue queue({2}, {true, true});
  const auto first = queue.Take();
  queue.Done(*first, true);
  queue.Stop();
  EXPECT_EQ(Text(queue.Take()), "nothing");
  EXPECT_FALSE(queue.Ended(0, 0));
}

TEST(RunQueue, ManyThreadsDoEverythingOnceAndSequentialOnesInOrder) {
  constexpr size_t kLaunches = 50;
  constexpr size_t kConfigurations = 7;
  for (const bool sequential : {false, true}) {
    RunQueue queue({kLaunches}, std::vector<bool>(kConfigurations, sequential));
    std::vector<std::atomic<int>> done(kLaunches * kConfigurations);
    std::vector<std::atomic<size_t>> next(kConfigurations);
    std::atomic<int> out_of_order = 0;
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
          while (const std::optional<RunQueue::Run> run = queue.Take()) {
            ++done[run->launch * kConfigurations + run->configuration];
            if (sequential && next[run->configuration]++ != run->launch) ++out_of_order;
            queue.Done(*run, true);
          }
        });
      }
    }
    for (const std::atomic<int>& count : done) EXPECT_EQ(count, 1);
    EXPECT_EQ(out_of_order, 0);
  }
}

}  // namespace
}  // namespace heddle::replay
