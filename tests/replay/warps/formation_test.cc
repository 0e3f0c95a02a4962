// The guarded editor: what it does, and that every way to lose or double a thread is refused and reported.
#include "replay/warps/formation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/replay/warps/four_lanes.h"

namespace heddle::replay {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Two hardware warps of four threads at the entry, unassigned.
class FormationTest : public testing::Test {
 protected:
  FormationTest() : formation_(FourWide()) {
    for (ThreadId thread = 0; thread < 8; ++thread) formation_.AddThread(thread, 0, thread, kEntry);
  }
  static Formation::Setup FourWide() {
    Formation::Setup setup;
    setup.warp_size = 4;
    setup.max_threads = 16;
    setup.policy_name = "tested";
    return setup;
  }
  WarpEditor& editor() { return formation_.editor(); }
  std::string failure() const { return std::string(formation_.status().message()); }
  uint64_t count(ThreadState state) const { return formation_.thread_states()[static_cast<int>(state)]; }
  // A slot of the first hardware warp that resolves to the given groups.
  SlotId Resolving(const std::vector<PathGroup>& groups, LaneMask exited = 0) {
    const SlotId slot = editor().Spawn(kEntry, Home({0, 1, 2, 3}));
    formation_.Issue(slot);
    before_ = formation_.table().lanes[slot];
    formation_.BeginResolve(slot, groups, exited);
    return slot;
  }

  Formation formation_;
  Lanes before_;
};

TEST_F(FormationTest, ABrokenRuleAndALimitSetTheErrorFlag) {
  for (const bool limit : {false, true}) {
    bool error_flag = false;
    Formation::Setup setup = FourWide();
    setup.error_flag = &error_flag;
    Formation formation(setup);
    EXPECT_FALSE(error_flag);
    limit ? formation.ReportLimitExceeded("is too small") : formation.Fail("Spawn", kNoSlot, "is wrong");
    EXPECT_TRUE(error_flag && formation.failed());
  }
}

// A scheduler that writes down what it is told.
class Watcher : public WarpScheduler {
 public:
  SlotId Pick(const SlotSet& eligible) const override { return eligible.First(); }
  void Offered(SlotId slot) override { log.push_back("offered " + std::to_string(slot)); }
  void Grown(SlotId slot, const Lanes&) override { log.push_back("grown " + std::to_string(slot)); }
  void Withdrawn(SlotId slot) override { log.push_back("withdrawn " + std::to_string(slot)); }
  std::vector<std::string> log;
};

TEST_F(FormationTest, SpawnOffersASlotAndNumbersItFromTheSmallestFreeOne) {
  EXPECT_EQ(count(ThreadState::kInactive), 8);
  EXPECT_EQ(editor().Spawn(kEntry, Home({0, 1, 2, 3})), 0);
  EXPECT_EQ(editor().Spawn(kEntry, Home({4, 5})), 1);
  editor().Dissolve(0);
  EXPECT_EQ(editor().Spawn(kEntry, Home({6, 7})), 0);
  EXPECT_EQ(formation_.table().state[0], SlotState::kOffered);
  EXPECT_GT(formation_.table().formed[0], formation_.table().formed[1]);
  EXPECT_EQ(formation_.table().live, 2);
  EXPECT_EQ(count(ThreadState::kReady), 4);
  EXPECT_EQ(count(ThreadState::kInactive), 4);
  EXPECT_TRUE(formation_.status().ok());
}

TEST_F(FormationTest, ThreadsThatComeTogetherAreAsIfTheyHadComeOneByOne) {
  Formation together(FourWide());
  together.AddThreads(0, 3, 0, 0, kEntry);
  together.AddThreads(3, 5, 0, 3, kEntry);
  EXPECT_EQ(together.thread_states(), formation_.thread_states());
  for (ThreadId thread = 0; thread < 8; ++thread) {
    EXPECT_EQ(together.block_of(thread), formation_.block_of(thread));
    EXPECT_EQ(together.index_in_block(thread), formation_.index_in_block(thread));
    EXPECT_EQ(together.position_of(thread), formation_.position_of(thread));
    EXPECT_TRUE(together.is_live(thread));
    EXPECT_EQ(together.slot_of(thread), kNoSlot);
  }
  // A whole hardware warp, neighbours within one, and lanes with a gap.
  for (const std::vector<ThreadId>& threads : {std::vector<ThreadId>{0, 1, 2, 3}, {5, 6}, {4, 7}}) {
    const SlotId slot = together.editor().Spawn(kEntry, Home(threads));
    for (const ThreadId thread : threads) {
      EXPECT_EQ(together.slot_of(thread), slot);
      EXPECT_EQ(together.table().lanes[slot].thread[thread % 4], thread);
    }
  }
  EXPECT_TRUE(together.status().ok()) << together.status();
  EXPECT_EQ(together.thread_states()[static_cast<int>(ThreadState::kReady)], 8);
}

TEST_F(FormationTest, ContinueKeepsTheSlotTogether) {
  const SlotId slot = Resolving({{Position(1, 0), 0xf, false}});
  editor().Continue(slot);
  formation_.EndResolve(slot, before_);
  EXPECT_EQ(formation_.table().position[slot], Position(1, 0));
  EXPECT_EQ(formation_.table().lanes[slot].mask, 0xf);
  EXPECT_EQ(count(ThreadState::kReady), 4);
  EXPECT_TRUE(formation_.status().ok()) << failure();
}

TEST_F(FormationTest, ContinueAlsoWorksAfterThePolicyLookedAtThreads) {
  const SlotId slot = Resolving({{Position(1, 0), 0xf, false}});
  editor().SetHeld(2, HeldReason::kReconverging);
  EXPECT_EQ(editor().position_of(2), Position(1, 0));
  editor().Continue(slot);
  formation_.EndResolve(slot, before_);
  EXPECT_EQ(count(ThreadState::kReady), 4);
  EXPECT_EQ(count(ThreadState::kReconverging), 0);
  EXPECT_TRUE(formation_.status().ok()) << failure();
}

TEST_F(FormationTest, ALimitOfAPolicyIsARefusalThatSaysWhoMetIt) {
  formation_.SetNow(7);
  editor().ReportLimitExceeded("the table has 2 entries");
  editor().Fail("what follows from it");
  EXPECT_TRUE(formation_.failed());
  EXPECT_TRUE(absl::IsFailedPrecondition(formation_.status()));
  EXPECT_EQ(failure(), "divergence policy 'tested' met a limit in cycle 7: the table has 2 entries");
}

TEST_F(FormationTest, PlaceTakesSomeThreadsAndTheRestStaysUnassigned) {
  const SlotId slot = Resolving({{Position(1, 0), 0x3, false}, {Position(5, 0), 0xc, true}});
  editor().Place(slot, Position(5, 0), Home({2, 3}));
  editor().SetHeld(1, HeldReason::kReconverging);
  formation_.EndResolve(slot, before_);
  EXPECT_EQ(count(ThreadState::kReady), 2);
  EXPECT_EQ(count(ThreadState::kInactive), 5);  // thread 0, and the second hardware warp
  EXPECT_EQ(count(ThreadState::kReconverging), 1);
  EXPECT_EQ(formation_.StateOfThread(0), ThreadState::kInactive);
  EXPECT_EQ(formation_.StateOfThread(1), ThreadState::kReconverging);
  EXPECT_EQ(editor().position_of(1), Position(1, 0));
  EXPECT_TRUE(formation_.status().ok()) << failure();
}

TEST_F(FormationTest, AParkedSlotWithoutThreadsIsPlacedLater) {
  const SlotId slot = Resolving({{Position(1, 0), 0xf, false}});
  editor().Park(slot);
  formation_.EndResolve(slot, before_);
  EXPECT_EQ(formation_.table().state[slot], SlotState::kParked);
  EXPECT_EQ(formation_.table().lanes[slot].mask, 0);
  editor().Place(slot, Position(1, 0), Home({0, 3}));
  EXPECT_EQ(formation_.table().state[slot], SlotState::kOffered);
  EXPECT_TRUE(formation_.status().ok()) << failure();
}

TEST_F(FormationTest, ExitedThreadsAreFinishedUntilTheirBlockLeaves) {
  const SlotId slot = Resolving({}, 0xf);
  editor().Dissolve(slot);
  formation_.EndResolve(slot, before_);
  EXPECT_EQ(count(ThreadState::kFinished), 4);
  EXPECT_FALSE(formation_.is_live(0));
  formation_.RemoveBlock(0, 0, 4);
  EXPECT_EQ(count(ThreadState::kFinished), 0);
  EXPECT_TRUE(formation_.status().ok()) << failure();
}

TEST_F(FormationTest, SplitMergeAndJoinMoveThreadsBetweenSlots) {
  const SlotId slot = editor().Spawn(kEntry, Home({0, 1, 2}));
  editor().SetStop(slot, Position(9, 0));
  const SlotId part = editor().Split(slot, 0x3);
  EXPECT_EQ(formation_.table().lanes[part].mask, 0x3);
  EXPECT_EQ(formation_.table().lanes[slot].mask, 0x4);
  EXPECT_EQ(formation_.table().stop[part], Position(9, 0));
  EXPECT_EQ(formation_.slot_of(1), part);
  editor().Join(slot, Home({3}));
  editor().Merge(part, slot);
  EXPECT_EQ(formation_.table().lanes[slot].mask, 0xf);
  EXPECT_EQ(formation_.table().state[part], SlotState::kFree);
  EXPECT_EQ(count(ThreadState::kReady), 4);
  EXPECT_TRUE(formation_.status().ok()) << failure();
}

TEST_F(FormationTest, SchedulersHearOfEveryOfferGrowthAndWithdrawal) {
  Watcher watcher;
  formation_.SetSchedulers({&watcher});
  const SlotId slot = editor().Spawn(kEntry, Home({0, 1, 2}));
  editor().Join(slot, Home({3}));
  const SlotId part = editor().Split(slot, 0x8);
  editor().Park(part);
  editor().Offer(part);
  editor().Merge(part, slot);
  formation_.Issue(slot);
  formation_.Advance(slot, Position(1, 0));
  editor().Dissolve(slot);
  EXPECT_THAT(watcher.log, ElementsAre("offered 0", "grown 0", "grown 0", "offered 1", "withdrawn 1", "offered 1",
                                       "withdrawn 1", "grown 0", "offered 0", "withdrawn 0"));
}

TEST_F(FormationTest, OnlyTheHighestPriorityIsEligible) {
  const SlotId low = editor().Spawn(kEntry, Home({0, 1, 2, 3}));
  const SlotId high = editor().Spawn(kEntry, Home({4, 5, 6, 7}));
  editor().SetPriority(high, 3);
  EXPECT_FALSE(formation_.Eligible(0).Contains(low));
  EXPECT_TRUE(formation_.Eligible(0).Contains(high));
  editor().Park(high);
  EXPECT_TRUE(formation_.Eligible(0).Contains(low));
}

TEST_F(FormationTest, TimersComeInOrderOfTimeThenOfStart) {
  editor().StartTimer(7, 70);
  editor().StartTimer(5, 50);
  editor().StartTimer(5, 51);
  EXPECT_EQ(formation_.next_timer(), 5);
  formation_.SetNow(7);
  uint64_t tag = 0;
  std::vector<uint64_t> tags;
  while (formation_.PopTimer(tag)) tags.push_back(tag);
  EXPECT_THAT(tags, ElementsAre(50, 51, 70));
  editor().StartTimer(7, 71);  // the current cycle will do, while its timers are worked off and later
  EXPECT_TRUE(formation_.PopTimer(tag));
  EXPECT_EQ(tag, 71);
  editor().StartTimer(6, 60);
  EXPECT_THAT(failure(), HasSubstr("cycle 6 is over"));
}

TEST_F(FormationTest, ParkedThreadsCountAsWhatTheyAreHeldFor) {
  const SlotId slot = editor().SpawnParked(kEntry, Home({0, 1, 2, 3}), HeldReason::kReady);
  EXPECT_EQ(count(ThreadState::kReady), 4);
  EXPECT_EQ(formation_.StateOfThread(2), ThreadState::kReady);
  editor().Park(slot, HeldReason::kDependency);
  EXPECT_EQ(count(ThreadState::kDependency), 4);
  const SlotId part = editor().Split(slot, 0x3);
  editor().Park(part, HeldReason::kReconverging);
  EXPECT_EQ(count(ThreadState::kDependency), 2);
  EXPECT_EQ(count(ThreadState::kReconverging), 2);
  editor().Merge(part, slot);  // takes the reason of the slot that it merges into
  EXPECT_EQ(count(ThreadState::kDependency), 4);
  editor().Offer(slot);
  EXPECT_EQ(count(ThreadState::kReady), 4);
  editor().Park(slot);
  EXPECT_EQ(count(ThreadState::kInactive), 8);  // the second hardware warp is unassigned
  editor().Dissolve(slot);
  editor().SetHeld(1, HeldReason::kDependency);
  editor().SetHeld(2, HeldReason::kReady);
  EXPECT_EQ(count(ThreadState::kDependency), 1);
  EXPECT_EQ(count(ThreadState::kReady), 1);
  EXPECT_EQ(count(ThreadState::kInactive), 6);
  EXPECT_TRUE(formation_.status().ok()) << failure();
}

TEST_F(FormationTest, ContinueParkedMovesTheSlotOnWithoutOfferingIt) {
  const SlotId slot = Resolving({{Position(1, 0), 0xf, false}});
  editor().ContinueParked(slot, HeldReason::kDependency);
  formation_.EndResolve(slot, before_);
  EXPECT_EQ(formation_.table().state[slot], SlotState::kParked);
  EXPECT_EQ(formation_.table().position[slot], Position(1, 0));
  EXPECT_EQ(count(ThreadState::kDependency), 4);
  editor().Offer(slot);
  EXPECT_EQ(count(ThreadState::kReady), 4);
  EXPECT_TRUE(formation_.status().ok()) << failure();
}

TEST_F(FormationTest, OnlyParkedSlotsChangeTheirAge) {
  const SlotId slot = editor().SpawnParked(kEntry, Home({0, 1, 2, 3}));
  editor().SetAge(slot, 17);
  EXPECT_EQ(formation_.table().formed[slot], 17);
  editor().Offer(slot);
  editor().SetAge(slot, 18);
  EXPECT_EQ(formation_.table().formed[slot], 17);
  EXPECT_THAT(failure(), AllOf(HasSubstr("SetAge"), HasSubstr("offered, not parked")));
}

TEST_F(FormationTest, ContinueParkedRefusesThreadsThatTookSeveralWays) {
  const SlotId slot = Resolving({{Position(1, 0), 0x3, false}, {Position(5, 0), 0xc, true}});
  editor().ContinueParked(slot);
  EXPECT_THAT(failure(), AllOf(HasSubstr("ContinueParked"), HasSubstr("thread 2 is at")));
}

// ------------------------------------------------------------------------------------------------------------- guards

TEST_F(FormationTest, AFailureNamesPolicyOperationSlotAndThreadAndChangesNothing) {
  const SlotId slot = editor().Spawn(kEntry, Home({0, 1, 2, 3}));
  formation_.SetNow(12);
  EXPECT_EQ(editor().Spawn(kEntry, Home({3, 4})), kNoSlot);
  EXPECT_THAT(failure(), AllOf(HasSubstr("'tested'"), HasSubstr("Spawn"), HasSubstr("cycle 12"),
                               HasSubstr("lane 3 holds thread 3, which is in slot 0")));
  EXPECT_EQ(formation_.table().live, 1);
  EXPECT_EQ(formation_.slot_of(4), kNoSlot);
  EXPECT_EQ(formation_.slot_of(3), slot);
  EXPECT_EQ(formation_.status().code(), absl::StatusCode::kInternal);
}

TEST_F(FormationTest, RefusesAThreadThatIsNotLive) {
  editor().Spawn(kEntry, Home({8}));
  EXPECT_THAT(failure(), HasSubstr("thread 8, which is not live"));
}

TEST_F(FormationTest, RefusesAThreadOutOfRange) {
  editor().Spawn(kEntry, Home({4000}));
  EXPECT_THAT(failure(), HasSubstr("thread 4000, which is not live"));
}

TEST_F(FormationTest, RefusesAThreadThatIsElsewhere) {
  editor().Spawn(Position(3, 0), Home({0}));
  EXPECT_THAT(failure(), HasSubstr("thread 0 is at pc 0 depth 0, not at pc 24 depth 0"));
}

TEST_F(FormationTest, RefusesALaneThatIsNotTheThreadsHome) {
  Lanes lanes;
  lanes.mask = 2;
  lanes.thread[1] = 0;
  editor().Spawn(kEntry, lanes);
  EXPECT_THAT(failure(), HasSubstr("thread 0 is in lane 1, not in its home lane"));
}

TEST_F(FormationTest, RefusesAThreadGivenTwiceWhereAnyLaneGoes) {
  Formation::Setup setup = FourWide();
  setup.any_lane = true;
  Formation any(setup);
  any.AddThread(0, 0, 0, kEntry);
  Lanes lanes;
  lanes.mask = 3;
  any.editor().Spawn(kEntry, lanes);  // both lanes hold thread 0
  EXPECT_THAT(any.status().message(), HasSubstr("thread 0 is given twice"));
}

TEST_F(FormationTest, RefusesLanesBeyondTheWarp) {
  Lanes lanes;
  lanes.mask = 0x10;
  lanes.thread[4] = 0;
  editor().Spawn(kEntry, lanes);
  EXPECT_THAT(failure(), HasSubstr("beyond the warp size 4"));
}

TEST_F(FormationTest, RefusesAnEmptySpawn) {
  editor().Spawn(kEntry, Lanes{});
  EXPECT_THAT(failure(), HasSubstr("no threads are given"));
}

TEST_F(FormationTest, RefusesToPlaceAtTheExit) {
  editor().Spawn(Position::Exit(), Home({0}));
  EXPECT_THAT(failure(), HasSubstr("no thread can be at the exit"));
}

TEST_F(FormationTest, RefusesASlotThatIsNotThere) {
  editor().Park(5);
  EXPECT_THAT(failure(), HasSubstr("Park of slot 5"));
}

TEST_F(FormationTest, RefusesToChangeAnInstructionInFlight) {
  const SlotId slot = editor().Spawn(kEntry, Home({0, 1, 2, 3}));
  formation_.Issue(slot);
  editor().Dissolve(slot);
  EXPECT_THAT(failure(), HasSubstr("the slot is in flight, but must be offered or parked"));
}

TEST_F(FormationTest, RefusesToPlaceASlotThatIsNotResolving) {
  const SlotId slot = editor().Spawn(kEntry, Home({0, 1}));
  editor().Place(slot, kEntry, Home({2}));
  EXPECT_THAT(failure(), HasSubstr("must be resolving"));
}

TEST_F(FormationTest, RefusesToContinueADivergedSlot) {
  const SlotId slot = Resolving({{Position(1, 0), 0x3, false}, {Position(5, 0), 0xc, true}});
  editor().Continue(slot);
  EXPECT_THAT(failure(), HasSubstr("thread 2 is at pc 40"));
}

TEST_F(FormationTest, RefusesASlotThatIsLeftUndecided) {
  const SlotId slot = Resolving({{Position(1, 0), 0xf, false}});
  formation_.EndResolve(slot, before_);
  EXPECT_THAT(failure(), HasSubstr("neither continued, placed, parked nor dissolved"));
}

TEST_F(FormationTest, RefusesALaneThatIsTaken) {
  const SlotId slot = editor().Spawn(kEntry, Home({0, 1, 2, 3}));
  editor().Join(slot, Home({4}));
  EXPECT_THAT(failure(), HasSubstr("lane 0 is taken"));
}

TEST_F(FormationTest, RefusesToMergeSlotsApartOrInConflict) {
  const SlotId one = editor().Spawn(kEntry, Home({0, 1}));
  const SlotId two = editor().Spawn(kEntry, Home({4}));
  editor().Merge(two, one);
  EXPECT_THAT(failure(), HasSubstr("shares a lane"));
}

TEST_F(FormationTest, RefusesToMergeAcrossPositions) {
  const SlotId one = editor().Spawn(kEntry, Home({0, 1}));
  formation_.Issue(one);
  formation_.Advance(one, Position(1, 0));
  const SlotId two = editor().Spawn(kEntry, Home({6}));
  editor().Merge(two, one);
  EXPECT_THAT(failure(), HasSubstr("it is at pc 0 depth 0, slot 0 at pc 8"));
}

TEST_F(FormationTest, RefusesToSplitOffAll) {
  const SlotId slot = editor().Spawn(kEntry, Home({0, 1}));
  editor().Split(slot, 0x3);
  EXPECT_THAT(failure(), HasSubstr("some, but not all"));
}

TEST_F(FormationTest, RefusesAPortThatIsNotThere) {
  const SlotId slot = editor().Spawn(kEntry, Home({0}));
  editor().SetPort(slot, 1);
  EXPECT_THAT(failure(), HasSubstr("port 1 of 1"));
}

TEST_F(FormationTest, RefusesMoreSlotsThanThereAre) {
  // Parked slots without threads are the only way to use up slots.
  for (int i = 0; i < 1000 && !formation_.failed(); ++i) {
    const SlotId slot = editor().Spawn(kEntry, Home({0}));
    if (slot == kNoSlot) break;
    formation_.Issue(slot);
    before_ = formation_.table().lanes[slot];
    const PathGroup group{kEntry, 1, false};
    formation_.BeginResolve(slot, {&group, 1}, 0);
    editor().Park(slot);
    formation_.EndResolve(slot, before_);
  }
  EXPECT_THAT(failure(), HasSubstr("slots are taken"));
}

TEST_F(FormationTest, APolicyCanReportItsOwnBrokenInvariant) {
  editor().Fail("the stack is not nested");
  EXPECT_THAT(failure(), HasSubstr("the stack is not nested"));
}

}  // namespace
}  // namespace heddle::replay
