// Two recordings of one program side by side: hand-made ones, of which every number is known.
#include "tools/show/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "replay/machine/machine.h"
#include "tests/traces/program_builder.h"
#include "traces/format/write/writer.h"

namespace heddle::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using trace::testing::ProgramBuilder;

// One launch: its kernel, and threads in each of `blocks`. Programs that decide let threads of odd numbers go past.
struct OneLaunch {
  trace::v1::KernelProgram program;
  uint32_t blocks = 1;
  uint32_t threads = 64;
  uint32_t recorded_blocks = 1;
};

// alu, alu, alu, load, exit: the same for all threads.
trace::v1::KernelProgram Straight(const std::string& name = "k(int*)") {
  trace::v1::KernelProgram program = ProgramBuilder(name).Block("a").Alu(3).Load().Exit().Build();
  program.set_register_count(10);
  program.set_static_shared_bytes(1024);
  return program;
}

// alu, branch past a load, exit.
trace::v1::KernelProgram Branching(const std::string& name = "k(int*)") {
  trace::v1::KernelProgram program =
      ProgramBuilder(name).Block("a").Alu().Branch("b", "c").Block("b").Load().Jump("c").Block("c").Exit().Build();
  program.set_register_count(8);
  return program;
}

// The same with a guard in the branch's place.
trace::v1::KernelProgram Guarded() {
  trace::v1::KernelProgram program = Branching();
  program.mutable_instruction(1)->set_op(trace::v1::OP_INT_ALU);
  program.mutable_instruction(2)->set_flags(trace::v1::FLAG_GUARDED);
  program.set_level(trace::v1::LEVEL_PTX_GIVEN);
  program.set_producer("NVVM 13.0");
  return program;
}

class Recording {
 public:
  Recording(const std::string& name, const std::vector<OneLaunch>& runs) : file_(name) {
    trace::v1::FileHeader header = trace::testing::MakeHeader();
    header.set_compiler("clang 19");
    auto writer = trace::TraceWriter::Create(file_.path(), std::move(header));
    for (uint32_t i = 0; i < runs.size(); ++i) {
      const OneLaunch& run = runs[i];
      EXPECT_TRUE((*writer)->AddProgram(run.program).ok());
      trace::v1::Launch launch = trace::testing::MakeLaunch(i, run.blocks, run.threads);
      EXPECT_EQ((*writer)->BeginLaunch(launch), absl::OkStatus());
      for (uint64_t block = 0; block < run.recorded_blocks; ++block) AddBlock(**writer, run, block);
      EXPECT_EQ((*writer)->EndLaunch(), absl::OkStatus());
    }
    EXPECT_EQ((*writer)->Finish(), absl::OkStatus());
    auto reader = trace::TraceReader::Open(file_.path());
    EXPECT_TRUE(reader.ok()) << reader.status();
    reader_ = *std::move(reader);
  }
  const trace::TraceReader& reader() const { return *reader_; }

 private:
  static void AddBlock(trace::TraceWriter& writer, const OneLaunch& run, uint64_t block) {
    const bool decides = run.program.block_size() > 1;
    const std::vector<uint8_t> way[2] = {{0}, {1}};
    std::vector<std::vector<uint64_t>> addresses(run.threads);
    std::vector<trace::ThreadRecord> records;
    for (uint32_t t = 0; t < run.threads; ++t) {
      const bool past = decides && t % 2 == 1;
      if (!past) addresses[t].push_back(0x10000 + 4 * t);
      records.push_back({decides ? std::span<const uint8_t>(way[past]) : std::span<const uint8_t>(), addresses[t]});
    }
    EXPECT_EQ(writer.AddBlock(block, records, trace::TraceWriter::kNoExpectation), absl::OkStatus());
  }

  trace::testing::TemporaryFile file_;
  std::unique_ptr<trace::TraceReader> reader_;
};

absl::StatusOr<Comparison> Compare(const std::vector<OneLaunch>& a, const std::vector<OneLaunch>& b,
                                   bool timed = false) {
  const Recording one("comparison-a", a);
  const Recording other("comparison-b", b);
  std::optional<machine::v1::Machine> machine;
  if (timed) machine = *replay::LoadMachine("baws_gtx480");
  return CompareRecordings(one.reader(), other.reader(), machine);
}

std::string Refusal(const std::vector<OneLaunch>& a, const std::vector<OneLaunch>& b) {
  const absl::StatusOr<Comparison> comparison = Compare(a, b);
  EXPECT_FALSE(comparison.ok());
  return std::string(comparison.status().message());
}

// The values of both sides.
std::pair<double, double> Values(const ComparedKernel& kernel, const std::string& key) {
  const ComparedNumber* number = kernel.Find(key);
  if (number == nullptr || !number->a.has_value() || !number->b.has_value()) return {-1, -1};
  return {*number->a, *number->b};
}

TEST(Comparison, CountsWhatBothSidesDid) {
  const absl::StatusOr<Comparison> comparison = Compare({{Straight()}}, {{Branching()}});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  ASSERT_EQ(comparison->kernels.size(), 1);
  EXPECT_TRUE(comparison->missing.empty());
  const ComparedKernel& kernel = comparison->kernels[0];
  EXPECT_EQ(kernel.kernel, "k(int*)");
  EXPECT_EQ(kernel.launches, 1u);
  EXPECT_EQ(kernel.threads, 64u);
  EXPECT_EQ(Values(kernel, "static_instructions"), std::pair(5.0, 4.0));
  EXPECT_EQ(Values(kernel, "registers"), std::pair(10.0, 8.0));
  EXPECT_EQ(Values(kernel, "static_shared_bytes"), std::pair(1024.0, 0.0));
  EXPECT_EQ(Values(kernel, "thread_instructions"), std::pair(64.0 * 5, 32.0 * 4 + 32 * 3));
  EXPECT_EQ(Values(kernel, "instructions.int_alu"), std::pair(64.0 * 3, 64.0));
  EXPECT_EQ(Values(kernel, "instructions.branch"), std::pair(0.0, 64.0));
  EXPECT_EQ(Values(kernel, "instructions.load"), std::pair(64.0, 32.0));
  EXPECT_EQ(Values(kernel, "accesses.global"), std::pair(64.0, 32.0));
  EXPECT_EQ(kernel.Find("instructions.store"), nullptr) << "what neither side has is left out";
  EXPECT_EQ(Values(kernel, "issues"), std::pair(10.0, 8.0));
  EXPECT_EQ(Values(kernel, "simd_efficiency"), std::pair(100.0, 87.5));
  EXPECT_EQ(kernel.Find("cycles"), nullptr) << "there is no machine";
}

TEST(Comparison, DifferencesAreOfBFromA) {
  const absl::StatusOr<Comparison> comparison = Compare({{Straight()}}, {{Branching()}});
  ASSERT_TRUE(comparison.ok());
  const ComparedKernel& kernel = comparison->kernels[0];
  EXPECT_EQ(kernel.Find("registers")->Difference(), -2.0);
  EXPECT_EQ(kernel.Find("registers")->PerCent(), -20.0);
  EXPECT_EQ(kernel.Find("simd_efficiency")->Difference(), -12.5);
  EXPECT_EQ(kernel.Find("simd_efficiency")->PerCent(), std::nullopt) << "of per cent there are points";
  EXPECT_EQ(kernel.Find("instructions.branch")->PerCent(), std::nullopt) << "of nothing there are no per cent";
}

TEST(Comparison, OnAMachineThereAreSplitsAndTransactions) {
  const absl::StatusOr<Comparison> comparison = Compare({{Straight()}}, {{Branching()}}, true);
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  const ComparedKernel& kernel = comparison->kernels[0];
  EXPECT_EQ(Values(kernel, "warp_branches"), std::pair(0.0, 2.0));
  EXPECT_EQ(Values(kernel, "warp_splits"), std::pair(0.0, 2.0));
  EXPECT_EQ(kernel.Find("split_share")->a, std::nullopt) << "no branches, no share";
  EXPECT_EQ(kernel.Find("split_share")->b, 100.0);
  EXPECT_EQ(Values(kernel, "data_accesses"), std::pair(2.0, 2.0));
  EXPECT_EQ(Values(kernel, "transactions"), std::pair(2.0, 2.0));
  EXPECT_EQ(Values(kernel, "blocks_per_sm"), std::pair(1.0, 1.0));
  EXPECT_EQ(kernel.residency_limit_a, "grid");
  EXPECT_GT(Values(kernel, "cycles").first, 0);
  EXPECT_EQ(kernel.Find("warp_guards"), nullptr);
}

TEST(Comparison, GuardsAreNoBranches) {
  const absl::StatusOr<Comparison> comparison = Compare({{Branching()}}, {{Guarded()}}, true);
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  const ComparedKernel& kernel = comparison->kernels[0];
  EXPECT_EQ(Values(kernel, "guards"), std::pair(0.0, 64.0));
  EXPECT_EQ(Values(kernel, "warp_branches"), std::pair(2.0, 0.0));
  EXPECT_EQ(Values(kernel, "warp_splits"), std::pair(2.0, 0.0));
  EXPECT_EQ(Values(kernel, "warp_guards"), std::pair(0.0, 2.0));
  EXPECT_EQ(kernel.Find("guard_splits"), nullptr) << "warps stay together";
  EXPECT_THAT(kernel.code_a, HasSubstr("clang 19"));
  EXPECT_EQ(kernel.code_b, "PTX by NVVM 13.0");
}

TEST(Comparison, LaunchesOfOneKernelCountTogether) {
  const OneLaunch run{Straight(), 2, 64, 2};
  const absl::StatusOr<Comparison> comparison = Compare({run, {Straight("other")}, run}, {run, run});
  ASSERT_TRUE(comparison.ok()) << comparison.status();
  ASSERT_EQ(comparison->kernels.size(), 1);
  EXPECT_EQ(comparison->kernels[0].launches, 2u);
  EXPECT_EQ(comparison->kernels[0].blocks, 4u);
  EXPECT_EQ(Values(comparison->kernels[0], "thread_instructions"), std::pair(1280.0, 1280.0));
  ASSERT_EQ(comparison->missing.size(), 1);
  EXPECT_EQ(comparison->missing[0].kernel, "other");
  EXPECT_TRUE(comparison->missing[0].in_a);
}

TEST(Comparison, WhatDoesNotFitIsRefusedWithPlaceAndAdvice) {
  EXPECT_THAT(Refusal({{Straight("one")}}, {{Straight("two")}}),
              AllOf(HasSubstr("no kernel in common"), HasSubstr("has one"), HasSubstr("has two")));
  EXPECT_THAT(Refusal({{Straight()}, {Straight()}}, {{Straight()}}),
              AllOf(HasSubstr("launched 2 times"), HasSubstr("and once in"), HasSubstr("record the same run")));
  EXPECT_THAT(Refusal({{Straight()}, {Straight(), 1, 64}}, {{Straight()}, {Straight(), 1, 32}}),
              AllOf(HasSubstr("launch 2 of kernel 'k(int*)'"), HasSubstr("1x1x1 blocks of 64x1x1 threads"),
                    HasSubstr("32x1x1"), HasSubstr("same input")));
  EXPECT_THAT(Refusal({{Straight(), 2, 64, 1}}, {{Straight(), 2, 64, 2}}),
              AllOf(HasSubstr("1 recorded blocks"), HasSubstr("2 recorded blocks")));
}

TEST(Comparison, TextHasSignsAndPerCent) {
  const absl::StatusOr<Comparison> comparison = Compare({{Straight()}, {Straight("x")}}, {{Branching()}}, true);
  ASSERT_TRUE(comparison.ok());
  const std::string text = ComparisonText(*comparison, {"a.htrace", "b.htrace", "baws_gtx480"}, 100);
  EXPECT_THAT(text,
              AllOf(HasSubstr("A: a.htrace\nB: b.htrace\nMachine baws_gtx480"), HasSubstr("Only A has kernel x")));
  EXPECT_THAT(text, ::testing::ContainsRegex("registers per thread +10 +8 +-2 +-20.0\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("  branches +0 +64 +\\+64 +-\n"));
  EXPECT_THAT(ComparisonText(*comparison, {"a", "b", ""}, std::nullopt),
              HasSubstr("| registers per thread | 10 | 8 | -2 | -20.0 |\n"));
}

TEST(Comparison, ManyKernelsAreRowsWithAMean) {
  std::vector<OneLaunch> a, b;
  for (const char* name : {"a", "b", "c", "d"}) {
    a.push_back({Straight(name)});
    b.push_back({Branching(name)});
  }
  const absl::StatusOr<Comparison> comparison = Compare(a, b);
  ASSERT_TRUE(comparison.ok());
  const std::string text = ComparisonText(*comparison, {"a", "b", ""}, 200);
  EXPECT_THAT(text, ::testing::ContainsRegex("d +-20.0 +10, 8 +-30.0 +100.0, 87.5\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("geometric mean +-20.0 +-30.0\n"));
}

TEST(Comparison, JsonHasAllNumbers) {
  const absl::StatusOr<Comparison> comparison = Compare({{Straight()}}, {{Branching()}}, true);
  ASSERT_TRUE(comparison.ok());
  const auto json = nlohmann::json::parse(ComparisonJson(*comparison, {"a.htrace", "b.htrace", "baws_gtx480"}));
  EXPECT_EQ(json["machine"], "baws_gtx480");
  const auto& kernel = json["kernel"][0];
  EXPECT_EQ(kernel["kernel"], "k(int*)");
  EXPECT_EQ(kernel["number"]["thread_instructions"]["a"], 320);
  EXPECT_EQ(kernel["number"]["thread_instructions"]["difference"], -96);
  EXPECT_EQ(kernel["number"]["thread_instructions"]["per_cent"], -30.0);
  EXPECT_FALSE(kernel["number"]["split_share"].contains("a"));
  EXPECT_TRUE(json["missing"].empty());
}

}  // namespace
}  // namespace heddle::tools
