// What the checker says about a trace.
#include "traces/format/read/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/traces/forge.h"
#include "tests/traces/program_builder.h"

namespace heddle::trace {
namespace {

using ::testing::HasSubstr;
using testing::ProgramBuilder;

// Two threads run two barriers, a shared and a global access; only what a test changes is wrong.
v1::KernelProgram BarrierProgram() {
  return ProgramBuilder("b")
      .Block("a")
      .Barrier()
      .Branch("c", "b")
      .Block("b")
      .Barrier()
      .Jump("c")
      .Block("c")
      .Load(v1::SPACE_SHARED, 8)
      .Store(v1::SPACE_GLOBAL, 4)
      .Exit()
      .Build();
}

struct CheckCase {
  std::vector<uint8_t> decisions = {1, 1};
  uint64_t shared = 0x1000008;
  uint64_t global = 0x8000;
  std::function<void(std::vector<v1::Record>&)> change = [](auto&) {};
};

CheckReport Check(const CheckCase& setup) {
  testing::TemporaryFile file("check");
  auto writer = TraceWriter::Create(file.path(), testing::MakeHeader());
  EXPECT_TRUE((*writer)->AddProgram(BarrierProgram()).ok());
  v1::Launch launch = testing::MakeLaunch(0, 4, 2);
  v1::Allocation& allocation = *launch.add_allocation();
  allocation.set_base(0x8000);
  allocation.set_bytes(64);
  EXPECT_EQ((*writer)->BeginLaunch(launch), absl::OkStatus());
  const std::vector<uint64_t> addresses[2] = {{0x1000000, 0x8000}, {setup.shared, setup.global}};
  std::vector<ThreadRecord> records;
  records.reserve(2);
  for (int t = 0; t < 2; ++t) records.push_back({std::span(setup.decisions).subspan(t, 1), addresses[t]});
  EXPECT_EQ((*writer)->AddBlock(3, records, TraceWriter::kNoExpectation), absl::OkStatus());
  EXPECT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
  std::vector<v1::Record> records_of_file = testing::RecordsOf(testing::ReadFile(file.path()));
  setup.change(records_of_file);
  auto reader =
      TraceReader::Open(FromMemory(testing::AssembleFile(testing::WithIndex(std::move(records_of_file)))), "check");
  EXPECT_TRUE(reader.ok()) << reader.status();
  auto report = CheckTrace(**reader);
  EXPECT_TRUE(report.ok()) << report.status();
  return *report;
}

TEST(Checker, FindsNothingInASoundTrace) {
  const CheckReport report = Check({});
  EXPECT_TRUE(report.ok());
  EXPECT_TRUE(report.findings.empty());
  EXPECT_EQ(report.threads, 2);
  EXPECT_EQ(report.accesses, 4);
  EXPECT_EQ(report.chunks, 1);
}

void ExpectFinding(const CheckReport& report, Finding::Severity severity, const std::string& rule,
                   const std::string& place) {
  ASSERT_EQ(report.findings.size(), 1);
  EXPECT_EQ(report.findings[0].severity, severity);
  EXPECT_EQ(report.findings[0].rule, rule);
  EXPECT_THAT(report.findings[0].place, HasSubstr(place));
}

TEST(Checker, ReportsUnequalBarrierCounts) {
  const CheckReport report = Check({.decisions = {1, 0}});
  ExpectFinding(report, Finding::Severity::kWarning, "barrier-counts", "launch 0, block 3, thread 1");
  EXPECT_TRUE(report.ok()) << "a property of the kernel, not of the trace";
}

TEST(Checker, ReportsAccessesOutsideAllocations) {
  ExpectFinding(Check({.global = 0x8040}), Finding::Severity::kWarning, "allocation",
                "launch 0, block 3, thread 1, PC 32");
}

TEST(Checker, ReportsAccessesOutsideTheirWindow) {
  ExpectFinding(Check({.shared = 0x2000000}), Finding::Severity::kWarning, "window", "thread 1, PC 24");
}

TEST(Checker, ReportsMisalignedAccesses) {
  ExpectFinding(Check({.shared = 0x1000004}), Finding::Severity::kWarning, "alignment", "thread 1, PC 24");
}

TEST(Checker, TellsAKindOfWarningOnceForAllLaunches) {
  testing::TemporaryFile file("check");
  v1::FileHeader header = testing::MakeHeader();
  header.add_source_file("b.cu");
  auto writer = TraceWriter::Create(file.path(), header);
  v1::KernelProgram program = BarrierProgram();
  program.mutable_instruction(3)->set_source_file(1);
  program.mutable_instruction(3)->set_source_line(12);
  ASSERT_TRUE((*writer)->AddProgram(program).ok());
  const std::vector<uint64_t> good = {0x1000000, 0x8000};
  const std::vector<uint64_t> outside = {0x2000000, 0x8000};
  const std::vector<uint8_t> decisions = {1};
  for (uint32_t launch = 0; launch < 100; ++launch) {
    ASSERT_EQ((*writer)->BeginLaunch(testing::MakeLaunch(0, 1, 2)), absl::OkStatus());
    const std::vector<uint64_t>& addresses = launch < 10 ? good : outside;
    const std::vector<ThreadRecord> threads(2, ThreadRecord{decisions, addresses});
    ASSERT_EQ((*writer)->AddBlock(0, threads, TraceWriter::kNoExpectation), absl::OkStatus());
    ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  }
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  const auto reader = TraceReader::Open(file.path());
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto report = CheckTrace(**reader);
  ASSERT_TRUE(report.ok());
  ExpectFinding(*report, Finding::Severity::kWarning, "window", "launch 10, block 0, thread 0, b.cu:12 (PC 24)");
  EXPECT_EQ(report->findings[0].count, 180u);
  EXPECT_EQ(report->findings[0].launches, 90u);
}

TEST(Checker, ComparesPostDominators) {
  const CheckReport report = Check({.change = [](auto& records) {
    records[1].mutable_program()->mutable_block(0)->set_immediate_post_dominator(2);
  }});
  ExpectFinding(report, Finding::Severity::kError, "post-dominator", "program 0 (b), block 0");
  EXPECT_FALSE(report.ok());
}

TEST(Checker, ReportsChunksThatCannotBeDecoded) {
  const CheckReport report =
      Check({.change = [](auto& records) { records[3].mutable_chunk()->mutable_column()->RemoveLast(); }});
  ExpectFinding(report, Finding::Severity::kError, "chunk", "launch 0, frame 3");
}

TEST(Checker, PartsMustGoOnWhereTheyStopped) {
  const v1::KernelProgram program =
      ProgramBuilder("p").Block("h").Alu().Branch("x", "h").Block("x").Alu().Branch("y", "h").Block("y").Exit().Build();
  testing::TemporaryFile file("parts");
  auto writer = TraceWriter::Create(file.path(), testing::MakeHeader());
  ASSERT_TRUE((*writer)->AddProgram(program).ok());
  ASSERT_EQ((*writer)->BeginLaunch(testing::MakeLaunch(0, 1, 1)), absl::OkStatus());
  std::vector<uint64_t> consumed(1);
  const std::vector<uint8_t> first = {1, 1, 0}, second = {0};
  ASSERT_EQ((*writer)->AddBlockPart(0, std::vector<ThreadRecord>{{first, {}}}, false, std::span(consumed)),
            absl::OkStatus());
  ASSERT_EQ((*writer)->AddBlockPart(0, std::vector<ThreadRecord>{{second, {}}}, true, std::span(consumed)),
            absl::OkStatus());
  ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
  std::vector<v1::Record> records = testing::RecordsOf(testing::ReadFile(file.path()));
  // The second part starts at the head instead: its one decision (0) then leads to block 1, which asks for another.
  v1::BlockChunk& chunk = *records[4].mutable_chunk();
  ASSERT_EQ(chunk.paths().start_block(0), 1);
  chunk.mutable_paths()->set_start_block(0, 0);
  chunk.mutable_paths()->set_decision_count(0, 2);
  chunk.set_thread_instructions(5);
  auto reader = TraceReader::Open(FromMemory(testing::AssembleFile(testing::WithIndex(records))), "parts");
  ASSERT_TRUE(reader.ok()) << reader.status();
  auto report = CheckTrace(**reader);
  ASSERT_TRUE(report.ok());
  ExpectFinding(*report, Finding::Severity::kError, "part-continuity", "launch 0, block 0, part 1, thread 0");
}

}  // namespace
}  // namespace heddle::trace
