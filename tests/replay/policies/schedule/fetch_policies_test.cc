// Fetch policies, by the example of figure 7 of the BAWS paper (Liu et al., section 4).
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
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
    for (size_t slot = 0; slot < entries_.size(); ++slot) {
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

// Issues the lowest slot first, and finds thread blocks as urgent as it is told.
class ToldUrgency final : public WarpScheduler {
 public:
  SlotId Pick(const SlotSet& eligible) const override { return eligible.First(); }
  uint64_t Urgency(BlockId block) const override { return urgency_.at(block); }
  void SetUrgency(BlockId block, uint64_t urgency) { urgency_.at(block) = urgency; }

 private:
  std::array<uint64_t, 2> urgency_{};
};

// CFF over two ports with a warp each, slot 0 on port 0 and slot 1 on port 1, both with empty buffers.
class TwoPorts {
 public:
  TwoPorts(BlockId block_0, BlockId block_1) : table_(2) {
    for (SlotId slot : {0, 1}) {
      schedulers_.push_back(std::make_unique<ToldUrgency>());
      table_.state[slot] = SlotState::kOffered;
      table_.offered.Insert(slot);
      table_.port[slot] = static_cast<uint8_t>(slot);
      table_.block[slot] = slot == 0 ? block_0 : block_1;
    }
    const FetchRegistry::Entry& entry = **FetchRegistry::Get().Find("cff");
    policy_ = entry.make({table_, schedulers_, 2, false, 4, 2}, *Parameters::Parse(entry.info, ""));
  }
  void SetOlder(SlotId slot) {
    table_.formed[slot] = 1;
    table_.formed[1 - slot] = 2;
  }
  // Of a block, as the port that the block's warp is on sees it.
  void SetUrgency(int port, BlockId block, uint64_t urgency) {
    static_cast<ToldUrgency&>(*schedulers_[static_cast<size_t>(port)]).SetUrgency(block, urgency);
  }
  void Fetched(SlotId slot) { policy_->Fetched(slot); }
  SlotId Pick() const {
    const std::array<uint8_t, 2> entries{};
    const std::array<SlotId, 2> none = {kNoSlot, kNoSlot};
    return policy_->Pick({table_.offered, SlotSet(), entries, none, none});
  }

 private:
  WarpTable table_;
  std::vector<std::unique_ptr<WarpScheduler>> schedulers_;
  std::unique_ptr<FetchPolicy> policy_;
};

// One fetch per cycle serves all ports; the paper leaves open whose. These are our rules.
TEST(CriticalFetchFirst, OfTwoPortsTheMoreUrgentBlockGoesFirst) {
  for (const SlotId older : {0, 1}) {
    for (const SlotId served : {0, 1}) {
      TwoPorts ports(/*block_0=*/0, /*block_1=*/1);
      ports.SetOlder(older);
      ports.Fetched(served);
      ports.SetUrgency(/*port=*/0, /*block=*/0, 2);
      ports.SetUrgency(1, 1, 3);
      EXPECT_EQ(ports.Pick(), 1) << older << served;
      ports.SetUrgency(0, 0, 4);
      EXPECT_EQ(ports.Pick(), 0) << older << served;
    }
  }
}

TEST(CriticalFetchFirst, OfEquallyUrgentBlocksTheOneWithTheOlderWarpGoesFirst) {
  for (const SlotId older : {0, 1}) {
    for (const SlotId served : {0, 1}) {
      TwoPorts ports(0, 1);
      ports.SetOlder(older);
      ports.Fetched(served);
      EXPECT_EQ(ports.Pick(), older) << served;
    }
  }
}

TEST(CriticalFetchFirst, WithinABlockThePortsTakeTurns) {
  for (const SlotId older : {0, 1}) {
    TwoPorts ports(0, 0);
    ports.SetOlder(older);
    ports.SetUrgency(/*port=*/0, /*block=*/0, 5);  // another number at another port says nothing
    for (const SlotId served : {0, 1}) {
      ports.Fetched(served);
      EXPECT_EQ(ports.Pick(), 1 - served) << older;
    }
  }
}

// The greedy warp stays the first of the order, and cannot issue before something is fetched for it or another.
TEST(CriticalFetchFirst, OnlyTheVeryFirstBesidesTheWarpThatIsPassedOver) {
  SchedulerBench bench("gto");
  for (SlotId slot : {0, 1, 2}) bench.Form(slot);
  bench.Issue(1);
  bench.Offer(1);
  FetchBench fetch(bench, "cff:skip_stalled=true,fallthrough=false");
  fetch.SetIssued(/*now=*/kNoSlot, /*last=*/1);
  EXPECT_EQ(fetch.Pick(), 0) << "the oldest";
  fetch.SetEntries(0, 2);
  EXPECT_EQ(fetch.Pick(), kNoSlot) << "0 is the first of the others, and needs nothing";
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
