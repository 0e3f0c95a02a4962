// What is refused of launches whose threads have waited for one another.
#include "replay/engine/wait_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/program_builder.h"

namespace heddle::replay {
namespace {

using ::testing::HasSubstr;
using trace::testing::ProgramBuilder;

// A launch of `blocks` blocks of 64 threads.
trace::LaunchView LaunchOf(const trace::Program& program, uint64_t blocks) {
  trace::LaunchView launch;
  launch.program = &program;
  launch.grid_blocks = blocks;
  launch.threads_per_block = 64;
  return launch;
}

void AddWait(trace::LaunchView& launch, uint64_t block, uint32_t thread, uint64_t writer_block,
             uint32_t writer_thread) {
  trace::v1::Wait& wait = *launch.totals.add_wait();
  wait.set_instruction(0);
  wait.set_block(block);
  wait.set_thread(thread);
  wait.set_polls(2);
  wait.set_writer_known(true);
  wait.set_writer_block(writer_block);
  wait.set_writer_thread(writer_thread);
}

trace::Program Flag() {
  return ProgramBuilder("flag").Block("poll").Load().Branch("go", "poll").Block("go").Store().Exit().Create();
}

trace::Program Lock(bool critical_section_within, const char* take = "atom.global.cas.b32") {
  ProgramBuilder builder("lock");
  if (critical_section_within) {
    // while (!done) if (take()) { ...; give_back(); done = true; }
    builder.Block("take").Atomic().Branch("critical", "next");
    builder.Block("critical").Load().Store().Atomic().Alu().Block("next").Alu().Branch("exit", "take");
    builder.Block("exit").Exit();
  } else {
    // while (!take()) {} ...; give_back();
    builder.Block("take").Atomic().Branch("critical", "take");
    builder.Block("critical").Load().Store().Atomic().Exit();
  }
  trace::v1::KernelProgram program = builder.Build();
  program.mutable_instruction(0)->set_mnemonic(take);
  return *trace::Program::Create(std::move(program));
}

TEST(GridWaits, ABarrierOfTheGridNeedsAllItsBlocks) {
  const trace::Program program = Flag();
  trace::LaunchView launch = LaunchOf(program, 6);
  // Block 5 comes last and lets the others go on.
  for (uint64_t block = 0; block < 5; ++block) AddWait(launch, block, 0, 5, 0);
  EXPECT_TRUE(CheckGridWaits(launch, 6).ok());
  const absl::Status five = CheckGridWaits(launch, 5);
  EXPECT_EQ(five.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(five.message(), HasSubstr("5 of the grid's 6 blocks"));
  EXPECT_THAT(five.message(), HasSubstr("for block 5"));
  EXPECT_FALSE(CheckGridWaits(launch, 2).ok());
}

// A grid of 2 by 4 blocks in clusters of 1 by 2. Block 5, of the last cluster that begins, lets the others go on: block
// 7 is of its cluster, block 6 of an earlier one.
TEST(GridWaits, PlacesAreThoseOfWholeClusters) {
  const trace::Program program = Flag();
  trace::LaunchView launch = LaunchOf(program, 8);
  launch.launch.mutable_grid()->set_x(2);
  launch.launch.mutable_grid()->set_y(4);
  launch.launch.mutable_cluster()->set_x(1);
  launch.launch.mutable_cluster()->set_y(2);
  for (trace::v1::Dim3* const dim : {launch.launch.mutable_grid(), launch.launch.mutable_cluster()}) dim->set_z(1);
  for (const uint64_t block : {0, 1, 2, 3, 4, 6, 7}) AddWait(launch, block, 0, 5, 0);
  EXPECT_TRUE(CheckGridWaits(launch, 4).ok());
  const absl::Status three = CheckGridWaits(launch, 3);
  EXPECT_EQ(three.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(three.message(), HasSubstr("3 of the grid's 4 clusters of 2 blocks at once"));
  EXPECT_THAT(three.message(), HasSubstr("a grid of at most 6 blocks"));
  // One of them does not wait: its place is free for others.
  launch.totals.mutable_wait()->erase(launch.totals.wait().begin() + 5);
  EXPECT_TRUE(CheckGridWaits(launch, 3).ok());
  EXPECT_FALSE(CheckGridWaits(launch, 2).ok());
}

TEST(GridWaits, WaitingForEarlierBlocksNeverHangs) {
  const trace::Program program = Flag();
  trace::LaunchView launch = LaunchOf(program, 100);
  for (uint64_t block = 1; block < 100; ++block) AddWait(launch, block, 0, block - 1, 0);
  EXPECT_TRUE(CheckGridWaits(launch, 1).ok());
}

TEST(GridWaits, AsLongAsOneOfTheBlocksBeforeEndsTheLaterOneBegins) {
  const trace::Program program = Flag();
  trace::LaunchView launch = LaunchOf(program, 100);
  for (uint64_t block = 0; block < 3; ++block) AddWait(launch, block, 0, 99, 0);
  EXPECT_TRUE(CheckGridWaits(launch, 4).ok());  // three places are taken for good, the fourth serves all the others
  EXPECT_FALSE(CheckGridWaits(launch, 3).ok());
}

TEST(GridWaits, TwoWaitsOfABlockTakeOnePlace) {
  const trace::Program program = Flag();
  trace::LaunchView launch = LaunchOf(program, 10);
  AddWait(launch, 0, 0, 9, 0);
  AddWait(launch, 0, 1, 9, 0);
  EXPECT_TRUE(CheckGridWaits(launch, 2).ok());
}

TEST(GridWaits, WhoeverHoldsALockRuns) {
  const trace::Program program = Lock(false);
  trace::LaunchView launch = LaunchOf(program, 10);
  for (uint64_t block = 0; block < 9; ++block) AddWait(launch, block, 0, 9, 0);
  EXPECT_TRUE(CheckGridWaits(launch, 2).ok());
}

TEST(WarpLocks, ALockThatIsReleasedBehindTheReconvergencePointIsALivelock) {
  const trace::Program program = Lock(false);
  trace::LaunchView launch = LaunchOf(program, 1);
  AddWait(launch, 0, 3, 0, 1);
  const absl::Status refused = CheckWarpLocks(launch, 32);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("thread 3 waits at instruction 0 (atom.global.cas.b32)"));
  EXPECT_THAT(refused.message(), HasSubstr("thread 1 of the same warp"));
}

TEST(WarpLocks, LocksOfMachineCodeAreLocks) {
  for (const char* take : {"ATOMG.E.CAS.STRONG.GPU", "ATOM.E.EXCH.STRONG.GPU", "ATOMS.CAS"}) {
    const trace::Program program = Lock(false, take);
    trace::LaunchView launch = LaunchOf(program, 1);
    AddWait(launch, 0, 3, 0, 1);
    EXPECT_EQ(CheckWarpLocks(launch, 32).code(), absl::StatusCode::kFailedPrecondition) << take;
  }
}

TEST(WarpLocks, OtherWarpsAndOtherBlocksGoOnByThemselves) {
  const trace::Program program = Lock(false);
  trace::LaunchView launch = LaunchOf(program, 2);
  AddWait(launch, 0, 3, 0, 33);
  AddWait(launch, 0, 3, 1, 1);
  EXPECT_TRUE(CheckWarpLocks(launch, 32).ok());
  EXPECT_FALSE(CheckWarpLocks(launch, 64).ok());  // one warp of 64
}

TEST(WarpLocks, ACriticalSectionWithinTheLoopIsFine) {
  const trace::Program program = Lock(true);
  trace::LaunchView launch = LaunchOf(program, 1);
  AddWait(launch, 0, 3, 0, 1);
  EXPECT_TRUE(CheckWarpLocks(launch, 32).ok());
}

trace::v1::Certificate TakenTogether(uint32_t thread, uint32_t other_thread, bool lock) {
  trace::v1::Certificate certificate;
  trace::v1::WarpWait& wait = *certificate.add_warp_wait();
  wait.set_instruction(0);
  wait.set_lock(lock);
  wait.set_count(1);
  wait.set_thread(thread);
  wait.set_other_thread(other_thread);
  return certificate;
}

TEST(WarpLocks, ALockThatThreadsOfAWarpTakeTogetherIsALivelockEvenIfNobodyWaited) {
  const trace::Program program = Lock(false);
  const trace::LaunchView launch = LaunchOf(program, 1);
  const absl::Status refused = CheckWarpLocks(launch, TakenTogether(17, 15, true), 32);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), HasSubstr("threads 15 and 17 of one warp"));
  EXPECT_THAT(refused.message(), HasSubstr("instruction 0 (atom.global.cas.b32)"));
  EXPECT_TRUE(CheckWarpLocks(launch, TakenTogether(17, 15, true), 16).ok()) << "narrow warps";
  EXPECT_TRUE(CheckWarpLocks(launch, TakenTogether(17, 15, false), 32).ok()) << "a signal";
  const trace::Program within = Lock(true);
  EXPECT_TRUE(CheckWarpLocks(LaunchOf(within, 1), TakenTogether(17, 15, true), 32).ok());
}

TEST(WarpLocks, AFlagIsNoLock) {
  const trace::Program program = Flag();
  trace::LaunchView launch = LaunchOf(program, 1);
  AddWait(launch, 0, 3, 0, 1);
  EXPECT_TRUE(CheckWarpLocks(launch, 32).ok());
}

}  // namespace
}  // namespace heddle::replay
