// Fetch policies, by the example of figure 7 of the BAWS paper (Liu et al., section 4).
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "replay/seams/fetch_policy.h"
#include "tests/replay/policies/schedule/scheduler_bench.h"

namespace heddle::replay {
namespace {

// A fetch policy over the warps of a scheduler bench with one port; every warp's buffer holds two instructions.
class FetchBench {
 public:
  FetchBench(const SchedulerBench& bench, const std::string& text, bool free_slot = false)
      : bench_(bench), entries_(bench.table().state.size(), 0) {
    const size_t colon = text.find(':');
    const FetchRegistry::Entry& entry = **FetchRegistry::Get().Find(text.substr(0, colon));
    const Parameters parameters =
        *Parameters::Parse(entry.info, colon == std::string::npos ? "" : text.substr(colon + 1));
    policy_ = entry.make({bench.table(), bench.schedulers(), 2, free_slot, 4, 1}, parameters);
  }
  // Valid instructions in the slot's buffer; a full one is not fetched for.
  void SetEntries(SlotId slot, uint8_t entries) { entries_[slot] = entries; }
  // The slot waits for a line of the instruction cache.
  void WaitForLine(SlotId slot) { waits_.Insert(slot); }
  void SetIssued(SlotId now, SlotId last) {
    issued_ = now;
    last_ = last;
  }
  void Fetched(SlotId slot) { policy_->Fetched(slot); }

  SlotId Pick(int room_from = 0) const {
    SlotSet eligible;
    SlotSet at_barrier;
    for (SlotId slot = 0; slot < entries_.size(); ++slot) {
      const SlotState state = bench_.table().state[slot];
      if (state == SlotState::kFree || entries_[slot] > room_from || waits_.Contains(slot)) continue;
      (state == SlotState::kBarrier ? at_barrier : eligible).Insert(slot);
    }
    return policy_->Pick({eligible, at_barrier, entries_, std::span(&issued_, 1), std::span(&last_, 1)});
  }

 private:
  const SchedulerBench& bench_;
  std::vector<uint8_t> entries_;
  SlotSet waits_;
  SlotId issued_ = kNoSlot;
  SlotId last_ = kNoSlot;
  std::unique_ptr<FetchPolicy> policy_;
};

// Three blocks of four warps; 2 of block 0, 5 and 7 of block 1, and 9, 10, 11 of block 2 wait at their barriers.
void SetUpFigure7(SchedulerBench& bench) {
  bench.AdmitBlock(1);
  bench.AdmitBlock(2);
  for (SlotId warp = 0; warp < 12; ++warp) bench.FormIn(static_cast<BlockId>(warp / 4), warp);
  for (const SlotId warp : {2, 5, 9, 10, 11}) bench.ArriveAtBarrier(warp);
  bench.Issue(0);
  bench.Offer(0);
  bench.ArriveAtBarrier(7);
}

TEST(CriticalFetchFirst, TakesTheFirstOfTheIssueOrderThatNeedsInstructions) {
  SchedulerBench bench("mwf:order=lrr");  // its order: 8 4 6 1 3 0
  SetUpFigure7(bench);
  FetchBench fetch(bench, "cff");
  EXPECT_EQ(fetch.Pick(), 8);
  fetch.SetEntries(8, 2);
  fetch.SetEntries(4, 2);
  EXPECT_EQ(fetch.Pick(), 6);
  fetch.WaitForLine(6);
  EXPECT_EQ(fetch.Pick(), 1);
}

// Going round from the last one, whether a warp runs or waits.
TEST(RoundRobinFetch, WarpsAtBarriersHaveTheirTurnIfToldTo) {
  SchedulerBench bench("lrr");
  for (SlotId warp = 0; warp < 6; ++warp) bench.Form(warp);
  for (const SlotId warp : {1, 4}) bench.ArriveAtBarrier(warp);
  std::string turns;
  FetchBench fetch(bench, "round_robin:fetch_at_barrier=true");
  for (int turn = 0; turn < 7; ++turn) {
    const SlotId slot = fetch.Pick();
    absl::StrAppend(&turns, slot, " ");
    fetch.Fetched(slot);
  }
  EXPECT_EQ(turns, "0 1 2 3 4 5 0 ");
}

TEST(CriticalFetchFirst, OnlyTheVeryFirstIfToldTo) {
  SchedulerBench bench("mwf:order=lrr");
  SetUpFigure7(bench);
  FetchBench fetch(bench, "cff:fallthrough=false");
  EXPECT_EQ(fetch.Pick(), 8);
  fetch.SetEntries(8, 2);
  EXPECT_EQ(fetch.Pick(), kNoSlot) << "8 is still the first of the order, and needs nothing";
}

TEST(CriticalFetchFirst, NeverFetchesForAWarpAtABarrier) {
  SchedulerBench bench("mwf");
  bench.Form(0);
  bench.ArriveAtBarrier(0);
  EXPECT_EQ(FetchBench(bench, "cff").Pick(), kNoSlot);
  EXPECT_EQ(FetchBench(bench, "round_robin").Pick(), 0) << "the waste that CFF is made to avoid";
  EXPECT_EQ(FetchBench(bench, "round_robin:fetch_at_barrier=false").Pick(), kNoSlot);
}

TEST(CriticalFetchFirst, PassesOverAGreedyWarpThatCouldNotIssue) {
  SchedulerBench bench("gto");
  for (SlotId slot : {0, 1, 2}) bench.Form(slot);
  bench.Issue(1);
  bench.Offer(1);
  FetchBench fetch(bench, "cff:skip_stalled=true");
  fetch.SetIssued(/*now=*/1, /*last=*/1);
  EXPECT_EQ(fetch.Pick(), 1);
  fetch.SetIssued(/*now=*/kNoSlot, /*last=*/1);
  EXPECT_EQ(fetch.Pick(), 0) << "the oldest";
  FetchBench always(bench, "cff");
  always.SetIssued(kNoSlot, 1);
  EXPECT_EQ(always.Pick(), 1);
}

TEST(RoundRobinFetch, GoesOnBehindTheWarpFetchedLast) {
  SchedulerBench bench("mwf:order=lrr");
  SetUpFigure7(bench);
  FetchBench fetch(bench, "round_robin");
  fetch.Fetched(0);
  fetch.SetEntries(8, 2);
  fetch.SetEntries(4, 2);
  EXPECT_EQ(fetch.Pick(), 1);
}

TEST(FewestEntriesFirst, WarpsAtBarriersCountIfToldTo) {
  SchedulerBench bench("lrr");
  for (SlotId slot : {0, 1}) bench.Form(slot);
  bench.ArriveAtBarrier(0);
  for (const bool at_barrier : {true, false}) {
    FetchBench fetch(bench, absl::StrCat("fef:fetch_at_barrier=", at_barrier ? "true" : "false"), /*free_slot=*/true);
    fetch.SetEntries(1, 1);
    EXPECT_EQ(fetch.Pick(/*room_from=*/1), at_barrier ? 0 : 1);
  }
}

TEST(FewestEntriesFirst, TakesTheEmptiestBufferTiesInTurn) {
  SchedulerBench bench("lrr");
  for (SlotId slot : {0, 1, 2, 3}) bench.Form(slot);
  FetchBench fetch(bench, "fef", /*free_slot=*/true);
  for (const SlotId slot : {0, 1, 3}) fetch.SetEntries(slot, 1);
  EXPECT_EQ(fetch.Pick(/*room_from=*/1), 2);
  fetch.SetEntries(2, 1);
  EXPECT_EQ(fetch.Pick(1), 0);
  fetch.Fetched(1);
  EXPECT_EQ(fetch.Pick(1), 2);
  fetch.SetEntries(1, 0);
  EXPECT_EQ(fetch.Pick(1), 1);
}

}  // namespace
}  // namespace heddle::replay
