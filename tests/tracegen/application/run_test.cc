// Programs that use the device: what they compute, and the trace of all their launches.
#include <cstdint>
#include <set>
#include <sstream>
#include <vector>

#include "tests/tracegen/application/application_fixture.h"

namespace heddle::tracegen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

TEST_F(ApplicationTest, RunsNativelyWithoutACapture) {
  const Run run = Native("compute");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "right\n");
  EXPECT_EQ(run.errors, "");
}

TEST_F(ApplicationTest, ALinkStaysOneAndItsTargetIsWritten) {
  std::filesystem::create_symlink("real.htrace", Trace("link"));
  const Run run = Shell(absl::StrCat(HEDDLE_CAPTURE_PROGRAM " -o ", Trace("link"),
                                     " -- " HEDDLE_DEVICE_TEST_PROGRAM " compute ", folder_));
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_TRUE(std::filesystem::is_symlink(Trace("link")));
  EXPECT_NE(Open("real"), nullptr);
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_F(ApplicationTest, CaptureHasAllLaunchesInOrder) {
  const Run run = Capture("compute");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.out, "right\n");
  EXPECT_THAT(run.errors, HasSubstr("3 launches, 2,112 threads"));
  EXPECT_THAT(Leftovers(), IsEmpty());
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_THAT(Kernels(*reader), ElementsAre("Scale", "Count", "Scale"));
  EXPECT_EQ(reader->header().target(), "sm_70");
  EXPECT_EQ(reader->header().optimization(), "-O2");
  EXPECT_EQ(reader->header().warp_width(), 0u) << "no kernel that was launched uses shuffles or votes";
  EXPECT_THAT(reader->header().source_file(), ElementsAre("kernels.cu"));
  EXPECT_EQ(reader->header().provenance().at("application"), "device_program");
  const trace::v1::Launch& first = reader->launches()[0].launch;
  EXPECT_EQ(first.grid().x(), 8u);
  EXPECT_EQ(first.block().x(), 128u);
  EXPECT_THAT(first.depends_on(), IsEmpty());
  EXPECT_THAT(reader->launches()[2].launch.depends_on(), ElementsAre(1));
  std::vector<std::string> allocations;
  for (const auto& allocation : first.allocation()) allocations.push_back(allocation.name());
  EXPECT_THAT(allocations, ElementsAre("counter", "data"));
}

TEST_F(ApplicationTest, TwoCapturesAreTheSameBytes) {
  Capture("compute", "", "a");
  Capture("compute", "--threads 1", "b");
  EXPECT_EQ(ReadFile(Trace("a")), ReadFile(Trace("b")));
}

TEST_F(ApplicationTest, TransfersStandInTheirPlaces) {
  Capture("compute");
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  ASSERT_GT(reader->index().other_frame_size(), 0);
  trace::v1::Record record;
  ASSERT_TRUE(reader->ReadRecord(reader->index().other_frame(0), record).ok());
  EXPECT_EQ(record.transfer().direction(), trace::v1::Transfer::HOST_TO_DEVICE);
  EXPECT_EQ(record.transfer().bytes(), 4000u);
  EXPECT_EQ(record.transfer().address(), reader->launches()[0].launch.allocation(1).base());
  EXPECT_LT(reader->index().other_frame(0), reader->index().launch_frame(0));
}

TEST_F(ApplicationTest, OnlySomeKernelsAreRecordedAndAllRun) {
  const Run run = Capture("compute", "--kernels 'Co.*t'");
  EXPECT_EQ(run.out, "right\n");
  EXPECT_THAT(run.errors, HasSubstr("3 launches (1 recorded)"));
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_THAT(Kernels(*reader), ElementsAre("Scale", "Count", "Scale"));
  EXPECT_FALSE(reader->launches()[0].launch.recorded());
  EXPECT_TRUE(reader->launches()[1].launch.recorded());
  EXPECT_FALSE(reader->launches()[2].launch.recorded());
}

TEST_F(ApplicationTest, OnlySomeLaunchesAreRecorded) {
  EXPECT_EQ(Capture("compute", "--launches 1-").out, "right\n");
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_FALSE(reader->launches()[0].launch.recorded());
  EXPECT_TRUE(reader->launches()[2].launch.recorded());
}

TEST_F(ApplicationTest, OnlySomeBlocksAreRecordedAndAllRun) {
  for (const char* choice : {"first", "even", "random:7"}) {
    EXPECT_EQ(Capture("compute", absl::StrCat("--max-blocks 3 --block-choice ", choice)).out, "right\n") << choice;
    const auto reader = Open();
    ASSERT_NE(reader, nullptr);
    const trace::LaunchView& scale = reader->launches()[0];
    EXPECT_EQ(scale.totals.blocks(), 3u);
    EXPECT_EQ(scale.launch.selection().blocks(), 3u);
    EXPECT_EQ(reader->launches()[1].launch.selection().rule(), trace::v1::BlockSelection::ALL);
    std::vector<uint64_t> blocks;
    for (const auto& chunk : reader->index().chunk()) {
      if (chunk.launch() == 0) blocks = {chunk.first_block(), chunk.last_block()};
    }
    if (std::string(choice) == "first") {
      EXPECT_EQ(scale.launch.selection().rule(), trace::v1::BlockSelection::FIRST);
      EXPECT_THAT(blocks, ElementsAre(0, 2));
    } else if (std::string(choice) == "even") {
      EXPECT_EQ(scale.launch.selection().rule(), trace::v1::BlockSelection::EVENLY_SPACED);
      EXPECT_THAT(blocks, ElementsAre(0, 5));  // 0, 8/3, 16/3
    } else {
      EXPECT_EQ(scale.launch.selection().rule(), trace::v1::BlockSelection::RANDOM);
      EXPECT_EQ(scale.launch.selection().seed(), 7u);
    }
  }
}

TEST_F(ApplicationTest, OnlySomeClustersAreRecordedAsAWhole) {
  EXPECT_EQ(Capture("clusters", "--max-blocks 3 --block-choice even").out, "right\n");
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  // Blocks 0, 5 and 10 are chosen, so clusters 0, 1 and 6 of 8. In the second half of the grid the first one, 4, is not
  // recorded.
  std::set<uint64_t> blocks;
  for (const auto& chunk : reader->index().chunk()) {
    for (uint64_t block = chunk.first_block(); block <= chunk.last_block(); ++block) blocks.insert(block);
  }
  EXPECT_EQ(reader->launches()[0].totals.blocks(), 6u);
  EXPECT_THAT(blocks, IsSupersetOf(std::vector<uint64_t>{0, 1, 4, 5, 10, 14}));
}

TEST_F(ApplicationTest, LinksSeparatelyCompiledDeviceCode) {
  EXPECT_EQ(Native("linked").out, "right\n");
  EXPECT_EQ(Capture("linked").out, "right\n");
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_THAT(reader->header().source_file(), ElementsAre("part_one.cu", "part_two.cu"));
}

TEST_F(ApplicationTest, BuildsOpenClAndKeepsTheLogOfAFailure) {
  const Run run = Capture("opencl");
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.out, HasSubstr("build: 4\nprogram.cl:2:8: error: use of undeclared identifier 'nowhere'"));
  EXPECT_THAT(run.out, HasSubstr("add int* 1 step\nright\n"));
  EXPECT_EQ(Native("opencl").out, run.out);
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_THAT(reader->header().source_file(), ElementsAre("program2.cl"));
}

// The header stands first in the file, but a module that is loaded later has more source files, and a kernel that uses
// shuffles: the trace is the same as if all had been known before.
TEST_F(ApplicationTest, CodeThatIsLoadedLateIsInTheHeader) {
  EXPECT_EQ(Capture("late").out, "right\n");
  EXPECT_THAT(Leftovers(), IsEmpty());
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_THAT(reader->header().source_file(), ElementsAre("part_one.cu", "part_two.cu", "kernels.cu"));
  EXPECT_EQ(reader->header().warp_width(), 32u);
  EXPECT_THAT(Kernels(*reader), ElementsAre("Double", "ShuffleSum", "Double"));
  EXPECT_THAT(reader->launches()[1].launch.depends_on(), ElementsAre(0));
  EXPECT_EQ(reader->launches()[1].launch.stream(), 1u);
  EXPECT_THAT(reader->launches()[2].launch.depends_on(), ElementsAre(0));
  EXPECT_EQ(reader->launches()[0].program->id(), reader->launches()[2].program->id());
  for (const trace::v1::Instruction& instruction : reader->launches()[1].program->proto().instruction()) {
    if (instruction.source_line() != 0) {
      EXPECT_EQ(instruction.source_file(), 3u);
    }
  }
}

TEST_F(ApplicationTest, MemoryDoesNotGrowWithBlocksAndLaunches) {
  const Run run = Capture("large");
  EXPECT_EQ(run.status, 0) << run.errors;
  EXPECT_THAT(run.out, HasSubstr("right\n"));
  int most = 0;
  ASSERT_TRUE(std::istringstream(run.out) >> most) << run.out;
  EXPECT_LT(most, 500) << "megabytes; LLVM's code takes about a hundred of them";
  EXPECT_THAT(run.errors, HasSubstr("2,001 launches, 9,664,000 threads"));
}

TEST_F(ApplicationTest, ProcessesOfARunAreMerged) {
  const Run run = Capture("spawn");
  EXPECT_EQ(run.out, "right\nright\n");
  EXPECT_THAT(run.errors, HasSubstr("2 processes have launched kernels"));
  const auto reader = Open();
  ASSERT_NE(reader, nullptr);
  EXPECT_THAT(Kernels(*reader), ElementsAre("Scale", "Count", "Scale", "Scale", "Count", "Scale"));
}

}  // namespace
}  // namespace heddle::tracegen
