// The order in which launches under configurations are handed out to threads.
#include "replay/engine/run_queue.h"

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
    RunQueue queue({2}, 2, sequential);
    std::vector<std::string> order;
    while (const std::optional<RunQueue::Run> run = queue.Take()) {
      order.push_back(Text(run));
      queue.Done(*run, absl::OkStatus());
    }
    EXPECT_THAT(order, ElementsAre("launch 0 configuration 0", "launch 0 configuration 1", "launch 1 configuration 0",
                                   "launch 1 configuration 1"));
  }
}

TEST(RunQueue, LaunchesOfASequentialConfigurationWaitForOneAnother) {
  RunQueue queue({2}, 2, true);
  const auto first = queue.Take();
  const auto second = queue.Take();
  EXPECT_EQ(Text(first), "launch 0 configuration 0");
  EXPECT_EQ(Text(second), "launch 0 configuration 1");
  queue.Done(*second, absl::OkStatus());
  const auto third = queue.Take();
  EXPECT_EQ(Text(third), "launch 1 configuration 1") << "the other configuration's first launch is under way";
  queue.Done(*first, absl::OkStatus());
  EXPECT_EQ(Text(queue.Take()), "launch 1 configuration 0");
}

TEST(RunQueue, IndependentLaunchesDoNotWait) {
  RunQueue queue({2}, 1, false);
  EXPECT_EQ(Text(queue.Take()), "launch 0 configuration 0");
  EXPECT_EQ(Text(queue.Take()), "launch 1 configuration 0");
}

TEST(RunQueue, TracesFollowOneAnotherAndAreIndependent) {
  RunQueue queue({2, 0, 1}, 1, true);
  const auto first = queue.Take();
  EXPECT_EQ(Text(first), "launch 0 configuration 0");
  const auto second = queue.Take();
  EXPECT_EQ(Text(second), "launch 0 configuration 0") << "the first trace's second launch has to wait";
  EXPECT_EQ(second->trace, 2u) << "the second trace has no launch";
  queue.Done(*first, absl::OkStatus());
  const auto third = queue.Take();
  EXPECT_EQ(Text(third), "launch 1 configuration 0");
  EXPECT_EQ(third->trace, 0u);
  queue.Done(*second, absl::InternalError("in the last trace"));
  queue.Done(*third, absl::InternalError("in the first trace"));
  EXPECT_EQ(Text(queue.Take()), "nothing");
  EXPECT_EQ(queue.status().message(), "in the first trace");
}

TEST(RunQueue, TheErrorIsTheFirstOneInOrderAndNothingBehindItIsHandedOut) {
  RunQueue queue({3}, 2, false);
  const auto a = queue.Take();  // launch 0, configuration 0
  const auto b = queue.Take();  // launch 0, configuration 1
  const auto c = queue.Take();  // launch 1, configuration 0
  queue.Done(*c, absl::InternalError("later"));
  EXPECT_EQ(queue.status().message(), "later");
  queue.Done(*b, absl::InternalError("earlier"));
  queue.Done(*a, absl::OkStatus());
  EXPECT_EQ(Text(queue.Take()), "nothing");
  EXPECT_EQ(queue.status().message(), "earlier");
}

TEST(RunQueue, WhatComesBeforeAnErrorIsStillHandedOut) {
  RunQueue queue({2}, 2, true);
  const auto a = queue.Take();
  const auto b = queue.Take();
  queue.Done(*b, absl::OkStatus());
  const auto c = queue.Take();  // launch 1, configuration 1
  queue.Done(*c, absl::InternalError("last of all"));
  queue.Done(*a, absl::OkStatus());
  const auto d = queue.Take();
  EXPECT_EQ(Text(d), "launch 1 configuration 0") << "one thread would have come to it first";
  queue.Done(*d, absl::InternalError("before"));
  EXPECT_EQ(Text(queue.Take()), "nothing");
  EXPECT_EQ(queue.status().message(), "before");
}

TEST(RunQueue, ManyThreadsDoEverythingOnceAndSequentialOnesInOrder) {
  constexpr size_t kLaunches = 50;
  constexpr size_t kConfigurations = 7;
  for (const bool sequential : {false, true}) {
    RunQueue queue({kLaunches}, kConfigurations, sequential);
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
            queue.Done(*run, absl::OkStatus());
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
