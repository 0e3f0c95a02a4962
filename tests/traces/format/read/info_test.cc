// What `heddle trace info` says: sizes that add up, and how far static warps diverge.
#include "traces/format/read/info.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/traces/program_builder.h"

namespace heddle::trace {
namespace {

using testing::ProgramBuilder;
using testing::TemporaryFile;

v1::KernelProgram IfElse() {
  return ProgramBuilder("if_else")
      .Block("a")
      .Branch("b", "c")
      .Block("b")
      .Alu(9)
      .Load()
      .Jump("d")
      .Block("c")
      .Alu(10)
      .Jump("d")
      .Block("d")
      .Exit()
      .Build();
}

// Two warps: all threads of warp 0 fall through; in warp 1 every second thread takes the branch. In two parts if `cut`.
TraceInfo Describe(bool cut, const v1::KernelProgram& program = IfElse()) {
  TemporaryFile file("info");
  auto writer = TraceWriter::Create(file.path(), testing::MakeHeader());
  EXPECT_TRUE((*writer)->AddProgram(program).ok());
  EXPECT_EQ((*writer)->BeginLaunch(testing::MakeLaunch(0, 1, 64)), absl::OkStatus());
  const std::vector<uint8_t> zero = {0}, one = {1};
  const std::vector<uint64_t> address = {4096};
  std::vector<ThreadRecord> records, rest;
  for (int t = 0; t < 64; ++t) {
    const bool taken = t >= 32 && t % 2 == 1;
    const std::span<const uint64_t> addresses = taken ? std::span<const uint64_t>() : std::span(address);
    records.push_back({taken ? one : zero, addresses, true});
    rest.push_back({{}, records.back().addresses, true});
  }
  if (cut) {
    std::vector<ThreadRecord> first;
    for (const ThreadRecord& record : records) first.push_back({record.decisions, {}, false});
    std::vector<uint64_t> consumed(64);
    EXPECT_EQ((*writer)->AddBlockPart(0, first, false, std::span(consumed)), absl::OkStatus());
    EXPECT_EQ((*writer)->AddBlockPart(0, rest, true, std::span(consumed)), absl::OkStatus());
  } else {
    EXPECT_EQ((*writer)->AddBlock(0, records, 64 * 12), absl::OkStatus());
  }
  EXPECT_EQ((*writer)->EndLaunch(), absl::OkStatus());
  EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
  auto reader = TraceReader::Open(file.path());
  EXPECT_TRUE(reader.ok()) << reader.status();
  auto info = DescribeTrace(**reader);
  EXPECT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->file_bytes, std::filesystem::file_size(file.path()));
  return *info;
}

TEST(Info, MeasuresTheDivergenceOfStaticWarps) {
  for (bool cut : {false, true}) {
    const TraceInfo info = Describe(cut);
    ASSERT_EQ(info.launches.size(), 1);
    const DivergenceSummary& divergence = info.launches[0].divergence;
    EXPECT_EQ(divergence.warps, 2) << "a warp counts once, however its block is cut";
    EXPECT_EQ(divergence.uniform_warps, 1);
    EXPECT_EQ(divergence.warp_branches, 2);
    EXPECT_EQ(divergence.divergent_warp_branches, 1);
    // Warp 0 issues 12 instructions of 32 threads; warp 1 issues 22, ten of each side for half of the threads.
    EXPECT_DOUBLE_EQ(divergence.lane_activity_bound, 64.0 * 12 / (32 * (12 + 22)));
  }
}

TEST(Info, GuardsAreCountedApartFromBranches) {
  v1::KernelProgram program = IfElse();
  program.mutable_instruction(0)->set_op(v1::OP_INT_ALU);
  program.mutable_instruction(1)->set_flags(v1::FLAG_GUARDED);
  for (const bool cut : {false, true}) {
    const DivergenceSummary divergence = Describe(cut, program).launches[0].divergence;
    EXPECT_EQ(divergence.warp_branches, 0);
    EXPECT_EQ(divergence.divergent_warp_branches, 0);
    EXPECT_EQ(divergence.warp_guards, 2);
    EXPECT_EQ(divergence.divergent_warp_guards, 1);
  }
}

TEST(Info, BytesOfAllContentsAddUpToTheFrames) {
  TemporaryFile file("bytes");
  ASSERT_EQ(testing::WriteRandomTrace(file.path(), testing::RandomProgram(12), 1, 20, 64, {},
                                      {.chunk_thread_instructions = 50'000}),
            absl::OkStatus());
  auto reader = TraceReader::Open(file.path());
  ASSERT_TRUE(reader.ok());
  const auto info = DescribeTrace(**reader);
  ASSERT_TRUE(info.ok());
  const LaunchInfo& launch = info->launches[0];
  double compressed = launch.paths.compressed + launch.other.compressed;
  uint64_t accesses = 0;
  for (const ColumnInfo& column : launch.columns) {
    compressed += column.bytes.compressed;
    accesses += column.accesses;
    EXPECT_GT(column.bytes.encoded, 0);
    uint64_t chunks = 0;
    for (uint64_t by_model : column.chunks_by_model) chunks += by_model;
    EXPECT_LE(chunks, launch.chunks);
  }
  EXPECT_NEAR(compressed, static_cast<double>(launch.frame_bytes), 1e-6 * static_cast<double>(launch.frame_bytes));
  EXPECT_EQ(accesses, launch.accesses);
  EXPECT_EQ(launch.threads, 20 * 64);
  EXPECT_GT(launch.divergence.distinct_paths, 0);
}

}  // namespace
}  // namespace heddle::trace
