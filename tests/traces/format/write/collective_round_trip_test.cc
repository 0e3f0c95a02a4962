// Instructions with several operands come back as they were recorded, in files that say that they have them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <utility>
#include <vector>

#include "tests/traces/collective_programs.h"
#include "tests/traces/forge.h"
#include "tests/traces/program_builder.h"
#include "traces/format/chunk/walk.h"
#include "traces/format/edit/compare.h"
#include "traces/format/edit/copy.h"
#include "traces/format/limits.h"
#include "traces/format/program/code_level.h"
#include "traces/format/program/operands.h"
#include "traces/format/read/check.h"
#include "traces/format/read/info.h"

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MakeCopy;
using testing::MakeHeader;
using testing::MakeLaunch;
using testing::MakeNamedBarrier;
using testing::ProgramBuilder;
using testing::RandomProgram;
using testing::RandomThread;
using testing::TemporaryFile;
using testing::WithCollectives;

// What the trace has of every thread of its first launch: its numbers, in the order of program and operands.
std::vector<std::vector<uint64_t>> NumbersOf(const TraceReader& reader) {
  std::vector<std::vector<uint64_t>> all;
  const LaunchView& launch = reader.launches()[0];
  DecodedChunk chunk;
  for (const v1::ChunkReference& reference : launch.chunks) {
    const absl::Status status = reader.ReadChunk(reference, chunk);
    EXPECT_TRUE(status.ok()) << status;
    for (size_t t = 0; t < chunk.path_of_thread.size(); ++t) {
      std::vector<uint64_t>& numbers = all.emplace_back();
      const PathView& path = chunk.paths[chunk.path_of_thread[t]];
      PackedDecisions decisions(path);
      WalkState state{path.start_block, {path.call_stack.begin(), path.call_stack.end()}, false};
      uint64_t instructions = 0;
      uint64_t position = chunk.first_address[t];
      (void)Walk(*launch.program, path.extent, decisions, state, ~uint64_t{0}, instructions,
                 [&](uint32_t, const Block& block) {
                   for (uint32_t i = 0; i < block.access_count; ++i) {
                     numbers.push_back(chunk.address(position++, SlotOf(*launch.program, block.first_access + i)));
                   }
                 });
    }
  }
  return all;
}

TEST(CollectiveRoundTrip, NumbersOfAllOperandsComeBack) {
  for (uint64_t seed = 1; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    constexpr uint32_t kThreads = 37;
    TemporaryFile file("collective");
    const v1::KernelProgram program = WithCollectives(RandomProgram(seed, {.calls = true, .wide = true}));
    ASSERT_EQ(testing::WriteRandomTrace(file.path(), program, seed, 3, kThreads, {},
                                        {.chunk_thread_instructions = seed % 2 == 0 ? 5'000u : 0u}),
              absl::OkStatus());
    auto reader = TraceReader::Open(file.path());
    ASSERT_TRUE(reader.ok()) << reader.status();
    std::vector<std::vector<uint64_t>> expected;
    for (uint32_t t = 0; t < 3 * kThreads; ++t) {
      expected.push_back(RandomThread(*(*reader)->launches()[0].program, seed, t).addresses);
    }
    EXPECT_EQ(NumbersOf(**reader), expected);
    auto report = CheckTrace(**reader);
    ASSERT_TRUE(report.ok()) << report.status();
    for (const Finding& finding : report->findings) {
      EXPECT_NE(finding.severity, Finding::Severity::kError) << finding.rule << " " << finding.message;
    }
  }
}

// A trace of one block of 64 threads, each of which copies once, from a place of its own to a place of its own.
void WriteCopies(const std::string& path, v1::KernelProgram program) {
  v1::FileHeader header = MakeHeader();
  header.set_minor(MinorVersionOf(program));
  auto writer = TraceWriter::Create(path, header);
  ASSERT_TRUE(writer.ok()) << writer.status();
  auto added = (*writer)->AddProgram(std::move(program));
  ASSERT_TRUE(added.ok()) << added.status();
  ASSERT_EQ((*writer)->BeginLaunch(MakeLaunch(0, 1, 64)), absl::OkStatus());
  std::vector<std::vector<uint64_t>> numbers;
  std::vector<ThreadRecord> records;
  for (uint64_t t = 0; t < 64; ++t) {
    const uint64_t from = 0x700000000000 + (t * 2654435761u % 4096) * 16;
    numbers.push_back({from, from - 0x700000000000 + 0x1000000});
  }
  for (const std::vector<uint64_t>& thread : numbers) records.push_back({{}, thread});
  ASSERT_EQ((*writer)->AddBlock(0, records, TraceWriter::kNoExpectation), absl::OkStatus());
  ASSERT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
}

v1::KernelProgram OneCopy() {
  v1::KernelProgram program = ProgramBuilder("copy").Alu().Exit().Build();
  MakeCopy(*program.mutable_instruction(0));
  return program;
}

TEST(CollectiveRoundTrip, ADestinationCountsFromItsSource) {
  TemporaryFile file("copies");
  WriteCopies(file.path(), OneCopy());
  const auto records = testing::RecordsOf(testing::ReadFile(file.path()));
  ASSERT_TRUE(records[3].has_chunk());
  const v1::BlockChunk& chunk = records[3].chunk();
  ASSERT_EQ(chunk.column_size(), 2);
  EXPECT_EQ(chunk.column(0).operand(), 0u);
  EXPECT_EQ(chunk.column(1).operand(), 1u);
  EXPECT_EQ(chunk.column(1).model(), v1::AddressColumn::RELATIVE);
  EXPECT_EQ(chunk.column(1).ref_instruction(), 0u);
  EXPECT_EQ(chunk.column(1).ref_operand(), 0u);
  EXPECT_EQ(chunk.column(1).layout(), v1::AddressColumn::ZERO);
  EXPECT_EQ(chunk.accesses(), 128u) << "the numbers of all columns";
}

TEST(CollectiveRoundTrip, FilesNameWhatTheyNeed) {
  TemporaryFile copies("copies"), barriers("barriers"), plain("plain");
  WriteCopies(copies.path(), OneCopy());
  v1::KernelProgram two = ProgramBuilder("two").Alu().Load().Exit().Build();
  MakeNamedBarrier(*two.mutable_instruction(0), v1::BARRIER_ARRIVE, 64);
  WriteCopies(barriers.path(), two);
  WriteCopies(plain.path(), ProgramBuilder("plain").Load().Load().Exit().Build());
  const auto opened = [](const TemporaryFile& file) { return *TraceReader::Open(file.path()); };
  EXPECT_THAT(opened(copies)->index().required_feature(), ElementsAre(kOperandFeature));
  EXPECT_THAT(opened(barriers)->index().required_feature(), ElementsAre(kBarrierFeature, kOperandFeature));
  EXPECT_THAT(opened(plain)->index().required_feature(), IsEmpty());
  EXPECT_EQ(opened(copies)->header().minor(), 8u);
  EXPECT_EQ(opened(plain)->header().minor(), 1u);
}

// The records of a trace with one copy, of which one is changed.
absl::Status ReadChanged(const std::function<void(std::vector<v1::Record>&)>& change) {
  TemporaryFile file("changed");
  WriteCopies(file.path(), OneCopy());
  std::vector<v1::Record> records = testing::RecordsOf(testing::ReadFile(file.path()));
  change(records);
  return testing::ReadEverything(testing::AssembleFile(testing::WithIndex(std::move(records))));
}

absl::Status ReadColumnChanged(int column, const std::function<void(v1::AddressColumn&)>& change) {
  return ReadChanged([&](auto& records) { change(*records[3].mutable_chunk()->mutable_column(column)); });
}

TEST(CollectiveRoundTrip, ColumnsOfOperandsThatDoNotExistAreRefused) {
  EXPECT_EQ(ReadChanged([](auto&) {}), absl::OkStatus());
  const auto message = [](const absl::Status& status) { return std::string(status.message()); };
  EXPECT_THAT(message(ReadColumnChanged(1, [](auto& c) { c.set_operand(2); })), HasSubstr("must come next"));
  EXPECT_THAT(message(ReadColumnChanged(1, [](auto& c) { c.set_operand(0); })), HasSubstr("operand 1 must come next"));
  EXPECT_THAT(message(ReadColumnChanged(1, [](auto& c) { c.set_operand(~0u); })), HasSubstr("must come next"));
  EXPECT_THAT(message(ReadColumnChanged(1, [](auto& c) { c.set_ref_operand(1); })),
              HasSubstr("no column of this chunk before it"));
  EXPECT_THAT(message(ReadColumnChanged(1, [](auto& c) { c.set_ref_operand(7); })),
              HasSubstr("no column of this chunk before it"));
  EXPECT_THAT(message(ReadChanged([](auto& records) {
                auto& columns = *records[3].mutable_chunk()->mutable_column();
                columns.SwapElements(0, 1);
              })),
              HasSubstr("must come next"));
  EXPECT_THAT(message(ReadChanged([](auto& records) { records[3].mutable_chunk()->mutable_column()->RemoveLast(); })),
              HasSubstr("operand 1 ran but has no column"));
}

TEST(CollectiveRoundTrip, ClustersAndParentsThatCannotBeAreRefused) {
  const auto launch = [](const std::function<void(v1::Launch&)>& change) {
    return std::string(ReadChanged([&](auto& records) { change(*records[2].mutable_launch()); }).message());
  };
  const auto cluster = [&](uint32_t x, uint32_t y, uint32_t z) {
    return launch([=](v1::Launch& l) {
      l.mutable_cluster()->set_x(x);
      l.mutable_cluster()->set_y(y);
      l.mutable_cluster()->set_z(z);
    });
  };
  EXPECT_EQ(cluster(1, 1, 1), "");
  EXPECT_THAT(cluster(2, 1, 1), HasSubstr("divide the grid"));
  EXPECT_THAT(cluster(0, 1, 1), HasSubstr("between 1 and 16"));
  EXPECT_THAT(cluster(~0u, ~0u, ~0u), HasSubstr("between 1 and 16"));
  EXPECT_THAT(launch([](v1::Launch& l) { l.mutable_parent(); }), HasSubstr("a later launch"));
}

// Two launches of one copy each, of which that thread of that block of the first launches the second.
absl::StatusOr<std::unique_ptr<TraceReader>> LaunchedByAThread(uint64_t block, uint32_t thread) {
  TemporaryFile one("one"), both("both");
  WriteCopies(one.path(), OneCopy());
  std::vector<v1::Record> records = testing::RecordsOf(testing::ReadFile(one.path()));
  std::vector<v1::Record> again(records.begin() + 2, records.end());
  for (v1::Record& record : again) {
    if (record.has_launch()) {
      record.mutable_launch()->set_id(1);
      record.mutable_launch()->mutable_parent()->set_block(block);
      record.mutable_launch()->mutable_parent()->set_thread(thread);
    }
    if (record.has_chunk()) record.mutable_chunk()->set_launch(1);
    if (record.has_launch_end()) record.mutable_launch_end()->set_launch(1);
  }
  records.insert(records.end(), again.begin(), again.end());
  std::ofstream(both.path(), std::ios::binary) << testing::AssembleFile(testing::WithIndex(std::move(records)));
  return TraceReader::Open(FromMemory(testing::ReadFile(both.path())), "both");
}

TEST(CollectiveRoundTrip, OnlyThreadsThatThereAreLaunch) {
  EXPECT_EQ(LaunchedByAThread(0, 63).status(), absl::OkStatus());
  for (const auto& status : {LaunchedByAThread(0, 64).status(), LaunchedByAThread(1, 0).status()}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr("is not in its launch"));
  }
}

TEST(CollectiveRoundTrip, CopiesOfTracesKeepOperandsAndWhoLaunched) {
  const auto opened = LaunchedByAThread(0, 7);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const std::unique_ptr<TraceReader>& from = *opened;
  for (const bool alone : {false, true}) {
    TemporaryFile file("copied");
    auto writer = TraceWriter::Create(file.path(), from->header());
    ASSERT_TRUE(writer.ok()) << writer.status();
    CopySelection selection;
    if (alone) selection.launches = {false, true};
    const std::vector<uint32_t> files = {0};
    ASSERT_EQ(TraceCopier(**writer, /*encode_anew=*/true).Add(*from, selection, files, [](uint64_t, uint64_t) {}),
              absl::OkStatus());
    ASSERT_EQ((*writer)->Finish(), absl::OkStatus());
    const auto copy = *TraceReader::Open(file.path());
    EXPECT_EQ(NumbersOf(*copy), NumbersOf(*from));
    const v1::Launch& last = copy->launches().back().launch;
    EXPECT_EQ(last.has_parent(), !alone) << "without the first launch nobody knows its thread";
    EXPECT_EQ(last.parent().thread(), alone ? 0u : 7u);
  }
}

TEST(CollectiveRoundTrip, InfoCountsHowOftenTheyRan) {
  TemporaryFile file("counted");
  const v1::KernelProgram program = WithCollectives(RandomProgram(3, {.depth = 2}));
  ASSERT_EQ(testing::WriteRandomTrace(file.path(), program, 1, 2, 20), absl::OkStatus());
  const auto reader = *TraceReader::Open(file.path());
  const auto info = DescribeTrace(*reader);
  ASSERT_TRUE(info.ok()) << info.status();
  const LaunchInfo& launch = info->launches[0];
  EXPECT_FALSE(launch.collectives.empty());
  for (const ColumnInfo& column : launch.columns) {
    const v1::Instruction& instruction = reader->programs()[0].instruction(column.instruction);
    if (!IsCollective(instruction)) continue;
    EXPECT_EQ(column.accesses, launch.collectives.at(column.instruction) * CountColumns(instruction));
  }
}

// The warnings of a trace whose threads copy from address 0 so many bytes.
std::vector<std::string> WarningsOfCopies(uint64_t bytes) {
  TemporaryFile file("short");
  v1::KernelProgram program = OneCopy();
  program.mutable_instruction(0)->add_operand()->set_kind(v1::Operand::BYTES);
  auto writer = TraceWriter::Create(file.path(), MakeHeader());
  EXPECT_TRUE((*writer)->AddProgram(std::move(program)).ok());
  v1::Launch launch = MakeLaunch(0, 1, 1);
  v1::Allocation& allocation = *launch.add_allocation();
  allocation.set_base(0x700000000000);
  allocation.set_bytes(256);
  EXPECT_EQ((*writer)->BeginLaunch(launch), absl::OkStatus());
  const std::vector<uint64_t> numbers = {0, 0x1000000, bytes};
  const ThreadRecord record{{}, numbers};
  EXPECT_EQ((*writer)->AddBlock(0, std::span(&record, 1), TraceWriter::kNoExpectation), absl::OkStatus());
  EXPECT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
  const auto reader = *TraceReader::Open(file.path());
  const auto report = CheckTrace(*reader);
  EXPECT_TRUE(report.ok()) << report.status();
  std::vector<std::string> messages;
  for (const Finding& finding : report->findings) messages.push_back(finding.message);
  return messages;
}

TEST(CollectiveRoundTrip, WhatACopyDoesNotReadMayLieAnywhere) {
  EXPECT_THAT(WarningsOfCopies(0), IsEmpty());
  EXPECT_THAT(WarningsOfCopies(8), ElementsAre(HasSubstr("8 bytes at address 0x0 lie outside all allocations")));
  EXPECT_THAT(WarningsOfCopies(99), ElementsAre(HasSubstr("16 bytes at address 0x0")));
}

TEST(CollectiveRoundTrip, ADifferenceNamesTheOperand) {
  TemporaryFile one("one"), other("other");
  WriteCopies(one.path(), OneCopy());
  std::vector<v1::Record> records = testing::RecordsOf(testing::ReadFile(one.path()));
  v1::AddressColumn& column = *records[3].mutable_chunk()->mutable_column(1);
  column.set_bias(column.bias() + 16);
  std::ofstream(other.path(), std::ios::binary) << testing::AssembleFile(testing::WithIndex(std::move(records)));
  const auto a = TraceReader::Open(one.path());
  const auto b = TraceReader::Open(other.path());
  ASSERT_TRUE(a.ok() && b.ok());
  const auto difference = CompareTraces(**a, **b);
  ASSERT_TRUE(difference.ok()) << difference.status();
  ASSERT_TRUE(difference->has_value());
  EXPECT_THAT((*difference)->what, HasSubstr("operand 1 0x"));
  EXPECT_EQ((*difference)->pc, 0u);
}

}  // namespace
}  // namespace heddle::trace
