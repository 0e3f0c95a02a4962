// Two recordings of one program at different levels of code.
#include "traces/format/edit/compare_levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/machine_programs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/edit/compare.h"
#include "traces/format/program/code_level.h"

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ProgramBuilder;
using testing::TemporaryFile;

constexpr uint32_t kThreads = 4;

// Writes two launches of a kernel in which thread t runs the loop t times, and lines of the source.
void Write(const std::string& path, v1::KernelProgram program, std::vector<std::string> kernels = {"kernel"}) {
  v1::FileHeader header = testing::MakeHeader();
  if (program.level() == v1::LEVEL_MACHINE) header.set_abstraction_level("machine");
  header.set_minor(MinorVersionOf(program));
  header.add_source_file("kernel.cu");
  auto writer = TraceWriter::Create(path, header);
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    program.set_name(kernels[k]);
    ASSERT_TRUE((*writer)->AddProgram(program).ok());
    ASSERT_EQ((*writer)->BeginLaunch(testing::MakeLaunch(k, 1, kThreads)), absl::OkStatus());
    std::vector<std::vector<uint8_t>> decisions(kThreads);
    std::vector<ThreadRecord> records;
    for (uint32_t t = 0; t < kThreads; ++t) {
      decisions[t].assign(t + 1, 1);
      decisions[t].back() = 0;
      records.push_back({decisions[t], {}});
    }
    ASSERT_EQ((*writer)->AddBlock(0, records, TraceWriter::kNoExpectation), absl::OkStatus());
    ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  }
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
}

// A loop of `work` instructions of line 2 and a branch of line 3; then the exit, which has no line.
v1::KernelProgram Loop(int work) {
  v1::KernelProgram program =
      ProgramBuilder("kernel").Block("head").Alu(work).Branch("end", "head").Block("end").Exit().Build();
  for (int pc = 0; pc <= work; ++pc) {
    program.mutable_instruction(pc)->set_source_file(1);
    program.mutable_instruction(pc)->set_source_line(pc < work ? 2 : 3);
  }
  return program;
}

std::vector<uint64_t> Both(const uint64_t (&sides)[2]) { return {sides[0], sides[1]}; }

TEST(CompareLevels, ProgramsAreComparedByLineAndThreadsNotAtAll) {
  const TemporaryFile a("levels-a"), b("levels-b");
  Write(a.path(), Loop(3), {"kernel", "old"});
  Write(b.path(), testing::WithMachineCode(Loop(2)), {"kernel", "new"});
  const auto ptx = TraceReader::Open(a.path());
  const auto machine = TraceReader::Open(b.path());
  ASSERT_TRUE(ptx.ok() && machine.ok()) << ptx.status() << machine.status();
  const auto difference = CompareTraces(**ptx, **machine);
  ASSERT_TRUE(difference.ok() && difference->has_value()) << difference.status();
  EXPECT_TRUE((*difference)->levels_differ);
  EXPECT_EQ((*difference)->Place(), "the whole trace");
  EXPECT_THAT((*difference)->what, HasSubstr("the abstraction level is ptx in "));
  const auto kernels = CompareByLine(**ptx, **machine);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  ASSERT_EQ(kernels->size(), 3u);
  const KernelCounts& kernel = kernels->front();
  EXPECT_EQ(kernel.kernel, "kernel");
  EXPECT_EQ(kernel.code[0], "ptx");
  EXPECT_EQ(kernel.code[1], "machine code by ptxas 13.0 for sm_80");
  EXPECT_THAT(Both(kernel.launches), ElementsAre(1, 1));
  EXPECT_THAT(Both(kernel.threads), ElementsAre(kThreads, kThreads));
  EXPECT_THAT(Both(kernel.instructions), ElementsAre(5, 4));
  // Thread t runs the loop t + 1 times: 10 rounds.
  EXPECT_THAT(Both(kernel.thread_instructions), ElementsAre(10 * 4 + 4, 10 * 3 + 4));
  std::vector<std::string> places;
  for (const LineCounts& line : kernel.lines) places.push_back(line.place);
  EXPECT_THAT(places, ElementsAre("-", "kernel.cu:2", "kernel.cu:3"));
  EXPECT_THAT(Both(kernel.lines[0].thread_instructions), ElementsAre(4, 4));
  EXPECT_THAT(Both(kernel.lines[1].instructions), ElementsAre(3, 2));
  EXPECT_THAT(Both(kernel.lines[1].thread_instructions), ElementsAre(30, 20));
  EXPECT_THAT(Both(kernel.lines[2].thread_instructions), ElementsAre(10, 10));
  EXPECT_EQ((*kernels)[1].kernel, "old");
  EXPECT_THAT(Both((*kernels)[1].launches), ElementsAre(1, 0));
  EXPECT_EQ((*kernels)[2].kernel, "new");
  EXPECT_EQ((*kernels)[2].code[0], "");
}

TEST(CompareLevels, TracesOfOneLevelAreComparedThreadByThread) {
  const TemporaryFile a("levels-a"), b("levels-b");
  v1::KernelProgram program = testing::WithMachineCode(Loop(2));
  Write(a.path(), program);
  program.mutable_instruction(0)->set_control(program.instruction(0).control() + 1);
  Write(b.path(), program);
  const auto one = TraceReader::Open(a.path());
  const auto other = TraceReader::Open(b.path());
  ASSERT_TRUE(one.ok() && other.ok()) << one.status() << other.status();
  EXPECT_EQ(DescribeOtherLevel(**one, **other), "");
  EXPECT_FALSE(CompareTraces(**one, **one)->has_value());
  // Control bits are part of an instruction.
  const auto difference = CompareTraces(**one, **other);
  ASSERT_TRUE(difference.ok() && difference->has_value()) << difference.status();
  EXPECT_FALSE((*difference)->levels_differ);
  EXPECT_THAT((*difference)->what,
              HasSubstr("the instruction is BSSY with control bits B0-----:R-:W-:Y:S00 of kernel.cu:2"));
}

// A machine program among others of PTX: the headers are the same.
TEST(CompareLevels, LevelsOfLaunchesAreLookedAt) {
  const TemporaryFile a("levels-a"), b("levels-b");
  v1::KernelProgram program = Loop(2);
  Write(a.path(), program);
  program = testing::WithMachineCode(program);
  v1::FileHeader header = testing::MakeHeader();
  header.add_source_file("kernel.cu");
  auto writer = TraceWriter::Create(b.path(), header);
  ASSERT_TRUE((*writer)->AddProgram(program).ok());
  v1::Launch launch = testing::MakeLaunch(0, 1, kThreads);
  launch.set_recorded(false);
  ASSERT_EQ((*writer)->BeginLaunch(launch), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  const auto one = TraceReader::Open(a.path());
  const auto other = TraceReader::Open(b.path());
  ASSERT_TRUE(one.ok() && other.ok()) << one.status() << other.status();
  EXPECT_THAT(DescribeOtherLevel(**one, **other), HasSubstr("the level of launch 0 is ptx in "));
}

}  // namespace
}  // namespace heddle::trace
