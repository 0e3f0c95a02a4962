// DWF's priorities: what each prefers, its ties, its memory.
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/replay/policies/schedule/scheduler_bench.h"

namespace heddle::replay {
namespace {

// Positions of the bench's kernel: A at 0, B from 1, C from 5, D (the reconvergence point of A) from 9.
Position At(Pc pc, uint32_t depth = 0) { return Position(pc, depth); }

TEST(Dtime, TakesTheOldestPoolEntryWhoeverJoinedIt) {
  SchedulerBench bench("dtime");
  bench.Form(3, At(5), 1);
  bench.Form(1, At(1), 4);
  bench.Grow(3, 40);
  EXPECT_EQ(bench.PickAndIssue(), 3);
  EXPECT_EQ(bench.PickAndIssue(), 1);
}

TEST(Dpc, TakesTheLowestPcThenTheOldest) {
  SchedulerBench bench("dpc");
  bench.Form(0, At(9));
  bench.Form(1, At(2));
  bench.Form(2, At(1));
  bench.Form(3, At(1));
  EXPECT_EQ(bench.PickAndIssue(), 2);
  EXPECT_EQ(bench.PickAndIssue(), 3);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  EXPECT_EQ(bench.PickAndIssue(), 0);
}

TEST(Dpc, TakesCallersBeforeCallees) {
  SchedulerBench bench("dpc");
  bench.Form(0, At(1, 1));
  bench.Form(1, At(9, 0));
  EXPECT_EQ(bench.PickAndIssue(), 1);
}

TEST(Dmaj, ElectsThePcWithMostThreadsAndStaysUntilItsWarpsHaveRunOut) {
  SchedulerBench bench("dmaj");
  bench.Form(0, At(1), 3);
  bench.Form(1, At(5), 4);
  bench.Form(2, At(5), 1);  // five threads at 5
  EXPECT_EQ(bench.PickAndIssue(), 1);
  bench.Form(3, At(1), 4);  // seven at 1, one left at 5
  EXPECT_EQ(bench.PickAndIssue(), 2);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  EXPECT_EQ(bench.PickAndIssue(), 3);
  EXPECT_EQ(bench.counter("elections"), 2);
}

TEST(Dmaj, CountsThreadsThatJoinAWaitingWarp) {
  SchedulerBench bench("dmaj");
  bench.Form(0, At(1), 2);
  bench.Form(1, At(5), 1);
  EXPECT_EQ(bench.Pick(), 0);
  bench.Grow(1, 40);
  bench.Grow(1, 41);
  EXPECT_EQ(bench.Pick(), 1);
}

TEST(Dmaj, ForgetsWithdrawnWarps) {
  SchedulerBench bench("dmaj");
  bench.Form(0, At(1), 2);
  bench.Form(1, At(5), 3);
  bench.Withdraw(1);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  bench.Form(2, At(9), 1);
  bench.Offer(1);
  EXPECT_EQ(bench.Pick(), 1);
}

TEST(Dmaj, BreaksTiesByLowerPcOrByAge) {
  for (const bool oldest : {false, true}) {
    SchedulerBench bench(oldest ? "dmaj:tie=oldest" : "dmaj");
    bench.Form(0, At(5), 2);
    bench.Form(1, At(1), 2);
    EXPECT_EQ(bench.Pick(), oldest ? 0 : 1);
  }
}

TEST(Dmaj, MayCountWarps) {
  SchedulerBench bench("dmaj:count=warps");
  bench.Form(0, At(1), 4);
  bench.Form(1, At(5), 1);
  bench.Form(2, At(5), 1);
  EXPECT_EQ(bench.Pick(), 1);
}

TEST(Dmaj, MayReelectAtEveryIssue) {
  SchedulerBench bench("dmaj:reelect=eager");
  bench.Form(1, At(5), 4);
  bench.Form(2, At(5), 1);
  bench.Form(0, At(1), 3);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  EXPECT_EQ(bench.PickAndIssue(), 2);
}

TEST(Dmin, TakesThePcWithTheFewestThreadsAtEveryIssue) {
  SchedulerBench bench("dmin");
  bench.Form(0, At(1), 4);
  bench.Form(1, At(5), 2);
  bench.Form(2, At(5), 1);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  bench.Form(3, At(5), 4);  // five at 5 now, four at 1
  EXPECT_EQ(bench.PickAndIssue(), 0);
}

TEST(Dmin, BreaksTiesByAge) {
  SchedulerBench bench("dmin");
  bench.Form(0, At(9), 2);
  bench.Form(1, At(1), 2);
  EXPECT_EQ(bench.Pick(), 0);
}

TEST(Dmin, MayKeepItsTurn) {
  SchedulerBench bench("dmin:sticky=true");
  bench.Form(0, At(1), 4);
  bench.Form(1, At(5), 2);
  bench.Form(2, At(5), 1);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  bench.Form(3, At(5), 4);
  EXPECT_EQ(bench.PickAndIssue(), 2);
  EXPECT_EQ(bench.PickAndIssue(), 3);
  EXPECT_EQ(bench.PickAndIssue(), 0);
}

TEST(PoolPriorities, DoNotCountWarpsThatABarrierReleased) {
  for (const char* name : {"dpc", "dmaj", "dmin"}) {
    SchedulerBench bench(name);
    bench.Form(0, At(9), 4, /*priority=*/1);
    bench.Form(1, At(9), 4, /*priority=*/1);
    bench.Form(2, At(1), 2);
    SlotSet released;
    released.Insert(0);
    released.Insert(1);
    EXPECT_EQ(bench.Pick(released), 0) << name << ": the oldest";
    bench.Issue(0);
    bench.Issue(1);
    bench.Form(3, At(9), 1);
    EXPECT_EQ(bench.Pick(), std::string(name) == "dmin" ? 3 : 2) << name;
  }
}

TEST(PoolPriorities, TakeTheOldestOfTheWarpsThatABarrierReleased) {
  for (const char* name : {"dtime", "dpc", "dmaj", "dmin", "dpdpri"}) {
    SchedulerBench bench(name);
    for (SlotId slot : {4, 2, 6}) bench.Form(slot, At(1), slot == 4 ? 1 : 4);
    for (SlotId slot : {4, 2, 6}) bench.Issue(slot);  // a barrier
    for (SlotId slot : {2, 4, 6}) {                   // released in another order
      bench.SetPriority(slot, 1);
      bench.Offer(slot);
    }
    EXPECT_EQ(bench.PickAndIssue(), 4) << name;
    EXPECT_EQ(bench.PickAndIssue(), 2) << name;
    EXPECT_EQ(bench.PickAndIssue(), 6) << name;
  }
}

TEST(Dpdpri, CountsAWarpBegunAtAnyReconvergencePointOnce) {
  SchedulerBench bench("dpdpri");
  bench.Form(0, At(9), 4);  // D is A's reconvergence point: 1
  bench.Form(1, At(5), 1);  // 0
  bench.Form(2, At(1), 2);  // 0, and fuller
  EXPECT_EQ(bench.PickAndIssue(), 2);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  EXPECT_EQ(bench.PickAndIssue(), 0);
}

TEST(Dpdpri, GivesAWarpTheLargestCountOfItsThreads) {
  SchedulerBench bench("dpdpri");
  bench.Form(0, At(9), 4);
  EXPECT_EQ(bench.PickAndIssue(), 0);  // threads 0 to 3 have counted one
  bench.Form(1, At(1), 2);
  bench.Form(2, At(5), 1);
  EXPECT_EQ(bench.Pick(), 1);
  bench.Grow(1, 0);  // thread 0 joins
  EXPECT_EQ(bench.Pick(), 2);
}

TEST(Dpdpri, PerThreadCountsOnlyPointsOfBranchesThatTheThreadRan) {
  SchedulerBench bench("dpdpri:pd_rule=per_thread");
  bench.Form(0, At(9), 4);  // came to D without having run A
  bench.Form(1, At(5), 4);
  EXPECT_EQ(bench.Pick(), 0) << "both count nothing: the older";
  bench.Issue(0);
  bench.Issue(1);
  bench.Form(1, At(0), 4);
  bench.Issue(1);  // runs A's branch
  bench.Form(1, At(9), 4);
  bench.Form(2, At(9), 4);
  EXPECT_EQ(bench.Pick(), 2) << "slot 1's threads have passed A's post-dominator";
}

TEST(Dpdpri, ThreadsOfANewBlockBeginAnew) {
  SchedulerBench bench("dpdpri");
  bench.Form(0, At(9), 4);
  bench.Issue(0);
  bench.Form(0, At(10), 4);
  bench.Form(1, At(10), 3);
  EXPECT_EQ(bench.Pick(), 1);
  bench.Issue(0);
  bench.Issue(1);
  bench.AdmitBlock();
  bench.Form(0, At(0), 4);
  bench.Form(1, At(0), 3);
  EXPECT_EQ(bench.Pick(), 0) << "fuller, and nothing counted";
}

// Fung, section 4.4: a group that comes in behind a smaller one is swapped upwards, one swap per cycle with two ports,
// and nothing issues from the heap meanwhile.
TEST(DmajHeap, NothingIssuesWhileTheHeapIsNotInOrder) {
  SchedulerBench bench("dmaj:heap=hardware");
  bench.SetClock(10);
  bench.Form(0, At(1), 1);
  EXPECT_EQ(bench.Pick(), 0) << "the first group needs no swap";
  bench.Form(1, At(5), 2);  // one swap, until cycle 11
  bench.Form(2, At(9), 3);  // one more, until cycle 12
  EXPECT_EQ(bench.Pick(), kNoSlot);
  bench.SetClock(11);
  EXPECT_EQ(bench.Pick(), kNoSlot);
  EXPECT_EQ(bench.Pick(), kNoSlot) << "counted once per cycle";
  bench.SetClock(12);
  EXPECT_EQ(bench.PickAndIssue(), 2);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  EXPECT_EQ(bench.counter("heap_stall_cycles"), 2);
  EXPECT_EQ(bench.counter("heap_swaps"), 2);
  EXPECT_EQ(bench.counter("max_heap"), 3);
  EXPECT_EQ(bench.counter("elections"), 3);
}

TEST(DmajHeap, TheMajorityEntryIssuesWhileTheHeapIsNotInOrder) {
  SchedulerBench bench("dmaj:heap=hardware");
  bench.Form(0, At(1), 4);
  bench.Form(1, At(1), 4);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  bench.Form(2, At(5), 1);
  bench.Form(3, At(9), 2);  // one swap
  EXPECT_EQ(bench.PickAndIssue(), 1) << "of the Majority Entry";
  EXPECT_EQ(bench.Pick(), kNoSlot);
  bench.SetClock(1);
  EXPECT_EQ(bench.PickAndIssue(), 3);
}

TEST(DmajHeap, MorePortsSwapFasterAndUnlimitedOnesAtOnce) {
  for (const auto& [ports, ready] : {std::pair<int, Cycle>{1, 4}, {2, 2}, {4, 1}, {0, 0}}) {
    SchedulerBench bench("dmaj:heap=hardware,heap_ports=" + std::to_string(ports));
    bench.Form(0, At(1), 1);
    bench.Form(1, At(2), 2);
    bench.Form(2, At(3), 3);  // two swaps in all
    for (Cycle cycle = 0; cycle < ready; ++cycle) {
      bench.SetClock(cycle);
      EXPECT_EQ(bench.Pick(), kNoSlot) << ports << " ports, cycle " << cycle;
    }
    bench.SetClock(ready);
    EXPECT_EQ(bench.Pick(), 2) << ports << " ports";
  }
}

// The table has one entry: the group of 1 is forgotten when 5 comes, so that 1 gets a second one.
TEST(DmajHeap, AForgottenGroupStaysAndIsDoubled) {
  SchedulerBench bench("dmaj:heap=hardware,lut_entries=1,lut_ways=1,heap_ports=0");
  bench.Form(0, At(1), 2);
  bench.Form(1, At(5), 3);
  bench.Form(2, At(1), 2);
  EXPECT_EQ(bench.PickAndIssue(), 1) << "3 threads; neither group of 1 has more";
  EXPECT_EQ(bench.PickAndIssue(), 0);
  EXPECT_EQ(bench.PickAndIssue(), 2);
  EXPECT_EQ(bench.counter("heap_table_evictions"), 2);
  EXPECT_EQ(bench.counter("heap_doubles"), 1);
  EXPECT_EQ(bench.counter("elections"), 3);
}

TEST(DmajHeap, WarpsWithoutRoomInTheHeapWaitOutside) {
  SchedulerBench bench("dmaj:heap=hardware,heap_entries=1,heap_ports=0");
  bench.Form(0, At(1), 1);
  bench.Form(1, At(5), 4);
  bench.Form(2, At(1), 1);
  EXPECT_EQ(bench.PickAndIssue(), 0) << "5 has more threads, but is not in the heap";
  EXPECT_EQ(bench.PickAndIssue(), 2);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  EXPECT_EQ(bench.counter("heap_full_waits"), 1);
  EXPECT_EQ(bench.counter("max_heap"), 1);
}

TEST(DmajHeap, CountsThreadsThatJoinAWaitingWarpOrWarpsIfToldTo) {
  for (const bool warps : {false, true}) {
    SchedulerBench bench(warps ? "dmaj:heap=hardware,heap_ports=0,count=warps" : "dmaj:heap=hardware,heap_ports=0");
    bench.Form(0, At(1), 4);
    bench.Form(1, At(5), 1);
    bench.Form(2, At(5), 1);
    EXPECT_EQ(bench.Pick(), warps ? 1 : 0) << "four threads, or two warps";
    bench.Form(3, At(1), 1);
    EXPECT_EQ(bench.Pick(), 0) << "five threads, two warps";
    for (const ThreadId thread : {40, 41, 42}) bench.Grow(1, thread);
    EXPECT_EQ(bench.Pick(), 0) << "five threads against five, two warps against two: the lower PC";
    bench.Grow(2, 43);
    EXPECT_EQ(bench.Pick(), warps ? 0 : 1) << "six threads";
  }
}

TEST(DmajHeap, BreaksTiesByLowerPcOrByAge) {
  for (const bool oldest : {false, true}) {
    SchedulerBench bench(oldest ? "dmaj:heap=hardware,heap_ports=0,tie=oldest" : "dmaj:heap=hardware,heap_ports=0");
    bench.Form(0, At(5), 2);
    bench.Form(1, At(1), 2);
    EXPECT_EQ(bench.Pick(), oldest ? 0 : 1);
  }
}

TEST(DmajHeap, AGroupThatLosesAWarpGoesDown) {
  SchedulerBench bench("dmaj:heap=hardware");
  bench.Form(0, At(1), 2);
  bench.Form(1, At(1), 1);
  bench.Form(2, At(5), 2);
  EXPECT_EQ(bench.Pick(), 0) << "three threads at 1, two at 5";
  bench.Withdraw(0);
  EXPECT_EQ(bench.Pick(), kNoSlot) << "a swap brings 5 up";
  bench.SetClock(1);
  EXPECT_EQ(bench.PickAndIssue(), 2);
  EXPECT_EQ(bench.PickAndIssue(), 1) << "still in its group";
  EXPECT_EQ(bench.counter("heap_swaps"), 1);
}

TEST(DmajHeap, AGroupWithoutWarpsMakesRoomInTheHeap) {
  SchedulerBench bench("dmaj:heap=hardware,heap_entries=1,heap_ports=0");
  bench.Form(0, At(1), 1);
  bench.Form(1, At(5), 4);  // waits outside
  bench.Withdraw(0);
  EXPECT_EQ(bench.PickAndIssue(), 1);
  bench.Offer(0);
  EXPECT_EQ(bench.PickAndIssue(), 0);
  EXPECT_EQ(bench.counter("heap_doubles"), 0);
}

// Two sets of one way each: PCs 1 and 5 share a set, 2 is in the other.
TEST(DmajHeap, TheTableForgetsThePcOfTheSameSetThatWasUsedLongestAgo) {
  SchedulerBench bench("dmaj:heap=hardware,lut_entries=2,lut_ways=1,heap_ports=0");
  bench.Form(0, At(1), 1);
  bench.Form(1, At(2), 1);
  EXPECT_EQ(bench.counter("heap_table_evictions"), 0);
  bench.Form(2, At(5), 1);
  EXPECT_EQ(bench.counter("heap_table_evictions"), 1) << "1 went";
  bench.Form(3, At(2), 1);
  EXPECT_EQ(bench.counter("heap_doubles"), 0) << "2 is known";
  bench.Form(4, At(1), 1);
  EXPECT_EQ(bench.counter("heap_doubles"), 1);

  SchedulerBench two_ways("dmaj:heap=hardware,lut_entries=2,lut_ways=2,heap_ports=0");
  two_ways.Form(0, At(1), 1);
  two_ways.Form(1, At(2), 1);
  two_ways.Form(2, At(1), 1);  // uses the entry of 1
  two_ways.Form(3, At(5), 1);  // takes that of 2
  two_ways.Form(4, At(1), 1);
  EXPECT_EQ(two_ways.counter("heap_doubles"), 0);
  two_ways.Form(5, At(2), 1);
  EXPECT_EQ(two_ways.counter("heap_doubles"), 1);
  EXPECT_EQ(two_ways.counter("heap_table_evictions"), 2);
}

}  // namespace
}  // namespace heddle::replay
