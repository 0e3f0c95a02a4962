// MWF and SAWS: the examples of the BAWS paper (Liu et al., figures 7 and 13) and their rules.
#include <string>

#include "gtest/gtest.h"
#include "tests/replay/policies/schedule/scheduler_bench.h"

namespace heddle::replay {
namespace {

// Figure 7: three blocks of four warps; one, two and three of them wait at the barrier. The last issued ones were warps
// 0 of block 0 and 7 of block 1, which waits now.
void SetUpFigure7(SchedulerBench& bench) {
  bench.AdmitBlock(1);
  bench.AdmitBlock(2);
  for (SlotId warp = 0; warp < 12; ++warp) bench.FormIn(static_cast<BlockId>(warp / 4), warp);
  for (const SlotId warp : {2, 5, 9, 10, 11}) bench.ArriveAtBarrier(warp);
  bench.Issue(0);
  bench.Offer(0);
  bench.ArriveAtBarrier(7);
}

TEST(Mwf, Figure7WithRoundRobin) {
  SchedulerBench bench("mwf:order=lrr");
  SetUpFigure7(bench);
  EXPECT_EQ(bench.Order(), "8 4 6 1 3 0");
}
TEST(Mwf, Figure7WithGreedyThenOldest) {
  SchedulerBench bench("mwf:order=gto");
  SetUpFigure7(bench);
  EXPECT_EQ(bench.Order(), "8 4 6 0 1 3");
}
TEST(Mwf, Figure7WithAFourthBlockThatTies) {
  for (const auto& [order, expected] : {std::pair<std::string, std::string>{"lrr", "8 4 6 14 15 1 3 0"},
                                        std::pair<std::string, std::string>{"gto", "8 4 6 14 15 0 1 3"}}) {
    SchedulerBench bench("mwf:order=" + order);
    SetUpFigure7(bench);
    bench.AdmitBlock(3);
    for (SlotId warp = 12; warp < 16; ++warp) bench.FormIn(3, warp);
    for (const SlotId warp : {12, 13}) bench.ArriveAtBarrier(warp);
    EXPECT_EQ(bench.Order(), expected) << order << ": block 1 before block 3, which is younger";
  }
}

TEST(Mwf, TiesGoToTheOlderBlockNotToTheLowerPlace) {
  SchedulerBench bench("mwf");
  bench.AdmitBlock(1);
  bench.RetireBlock(0);
  bench.AdmitBlock(0);  // younger than block 1
  bench.FormIn(1, 4);
  bench.FormIn(0, 0);
  EXPECT_EQ(bench.Order(), "4 0");
  SchedulerBench by_place("mwf:ties=place");
  by_place.AdmitBlock(1);
  by_place.AdmitBlock(0);
  by_place.FormIn(1, 4);
  by_place.FormIn(0, 0);
  EXPECT_EQ(by_place.Order(), "0 4");
}

TEST(Mwf, TheTableIsEmptyAfterTheBarrier) {
  SchedulerBench bench("mwf");
  bench.AdmitBlock(1);
  bench.FormIn(0, 0);
  for (const SlotId warp : {4, 5}) bench.FormIn(1, warp);
  bench.ArriveAtBarrier(5);
  EXPECT_EQ(bench.Order(), "4 0");
  bench.ArriveAtBarrier(4);
  bench.ReleaseBarrier(1);
  EXPECT_EQ(bench.Order(), "0 4 5");
}

TEST(Mwf, ExitsCountOnlyIfToldTo) {
  for (const bool count : {false, true}) {
    SchedulerBench bench(count ? "mwf:count_exits=true" : "mwf");
    bench.AdmitBlock(1);
    bench.FormIn(0, 0);
    for (const SlotId warp : {4, 5}) bench.FormIn(1, warp);
    bench.ExitWarp(5);
    EXPECT_EQ(bench.Order(), count ? "4 0" : "0 4");
    bench.ArriveAtBarrier(4);
    bench.ReleaseBarrier(1);
    EXPECT_EQ(bench.Order(), count ? "4 0" : "0 4") << "an exited warp stays exited";
  }
}

TEST(Mwf, GreedyOfThePortOrOfTheBlock) {
  for (const bool per_block : {true, false}) {
    SchedulerBench bench(per_block ? "mwf:greedy=per_block" : "mwf:greedy=last_issue");
    bench.AdmitBlock(1);
    for (const SlotId warp : {0, 1}) bench.FormIn(0, warp);
    bench.FormIn(1, 4);
    bench.Issue(1);
    bench.Issue(4);
    bench.Offer(1);
    bench.Offer(4);
    EXPECT_EQ(bench.Order(), per_block ? "1 0 4" : "0 1 4");
  }
}

// One block, no barrier: what is left is the order inside the block.
TEST(Mwf, WithOneBlockIsTheSchedulerInside) {
  EXPECT_EQ(SchedulerBench("mwf:order=lrr").Run(4, 12, 6), SchedulerBench("lrr").Run(4, 12, 6));
  EXPECT_EQ(SchedulerBench("mwf:order=gto").Run(4, 12, 6), SchedulerBench("gto").Run(4, 12, 6));
}

// Section 6.5: without barriers the oldest block goes first, and inside it the chosen order. Two blocks of two warps,
// each of which waits for memory for six cycles after every second issue of its own.
TEST(Mwf, WithoutBarriersBlocksGoByAge) {
  EXPECT_EQ(SchedulerBench("mwf:order=lrr").Run(4, 12, 6, /*per_block=*/2), "0 1 0 1 2 3 2 3 0 1 0 1");
  EXPECT_EQ(SchedulerBench("mwf:order=gto").Run(4, 12, 6, /*per_block=*/2), "0 0 1 1 2 2 3 0 0 1 1 3")
      << "in cycle 7 the older block comes back, in cycle 11 block 1 goes on with its last issued warp";
  EXPECT_EQ(SchedulerBench("gto").Run(4, 12, 6, /*per_block=*/2), "0 0 1 1 2 2 3 3 0 0 1 1")
      << "GTO differs: its greedy warp may be of a younger block";
}

// With one warp per block the order inside blocks says nothing: MWF is then what goes back to the oldest at once.
TEST(Mwf, WithoutBarriersAndWithOneWarpPerBlockIsOldestFirst) {
  for (const char* order : {"mwf:order=lrr", "mwf:order=gto"}) {
    EXPECT_EQ(SchedulerBench(order).Run(4, 40, 6, /*per_block=*/1), SchedulerBench("oldest").Run(4, 40, 6)) << order;
  }
}

// Figure 13: warps arrive one at block 0, two at block 1, three at block 2, in this order.
TEST(SawsLite, Figure13AgainstMwf) {
  struct Step {
    SlotId warp;
    const char* mwf;
    const char* saws;
  };
  const Step steps[] = {{0, "0 1 2", "0 1 2"},    // block 0's first
                        {4, "0 1 2", "0 1 2"},    // block 1's first
                        {5, "1 0 2", "0 1 2"},    // block 1's second
                        {8, "1 0 2", "0 1 2"},    // block 2's first
                        {9, "1 2 0", "0 1 2"},    // block 2's second
                        {10, "2 1 0", "0 1 2"}};  // block 2's third
  for (const std::string name : {"mwf", "saws_lite"}) {
    SchedulerBench bench(name);
    bench.AdmitBlock(1);
    bench.AdmitBlock(2);
    for (SlotId warp = 0; warp < 12; ++warp) bench.FormIn(static_cast<BlockId>(warp / 4), warp);
    const auto blocks = [&bench] {
      std::string order;
      int last = -1;
      std::string warps = bench.Order() + " ";
      for (size_t at = 0; at < warps.size();) {
        const size_t end = warps.find(' ', at);
        const int block = std::stoi(warps.substr(at, end - at)) / 4;
        if (block != last) order += (order.empty() ? "" : " ") + std::to_string(block);
        last = block;
        at = end + 1;
      }
      return order;
    };
    for (const Step& step : steps) {
      bench.ArriveAtBarrier(step.warp);
      EXPECT_EQ(blocks(), name == "mwf" ? step.mwf : step.saws) << name << " after warp " << step.warp;
    }
    // Block 1's barrier opens.
    for (const SlotId warp : {6, 7}) bench.ArriveAtBarrier(warp);
    bench.ReleaseBarrier(1);
    EXPECT_EQ(blocks(), name == "mwf" ? "2 0 1" : "0 2 1") << name;
  }
}

}  // namespace
}  // namespace heddle::replay
