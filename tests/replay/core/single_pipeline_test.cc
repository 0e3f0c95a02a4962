// The single pipeline, stage by stage, and the extra cycles of register bank conflicts.
#include "replay/core/single_pipeline/single_pipeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "replay/seams/policy_registry.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

// A memory whose stage is let go by hand.
class HandMemory final : public SmMemory {
 public:
  bool needs_addresses() const override { return false; }
  uint32_t usual_latency() const override { return 1; }
  void RunCycle(Cycle /*now*/) override {}
  Cycle NextWake(Cycle /*now*/) const override { return kNever; }
  bool StageFree() const override { return free; }
  void Submit(const WarpAccess& /*access*/, Cycle /*now*/) override { free = false; }
  FetchResult Fetch(uint64_t /*address*/, uint32_t /*fetcher*/, Cycle /*now*/) override { return FetchResult::kHit; }
  bool drained() const override { return free; }
  std::string Explain() const override { return {}; }

  bool free = true;
};

// One port; slots below 100 do arithmetic, others load.
class Bench final : SinglePipeline::Core {
 public:
  Bench(uint32_t depth, uint32_t warp_size, uint32_t simd_width, bool lane_wise = false)
      : program_(ProgramBuilder("bench").Exit().Create()), trace_(MakeTrace(program_.proto(), 1, {Thread({})})) {
    machine_ = Toy();
    machine_.mutable_core()->set_pipeline_depth(depth);
    machine_.mutable_core()->set_warp_size(warp_size);
    machine_.mutable_core()->set_simd_width(simd_width);
    context_ = std::make_unique<LaunchContext>(trace_->launches()[0], trace_->header(), machine_);
    load_.kind = Step::kMemory;
    load_.op = trace::v1::OP_LOAD;
    SinglePipeline::Core& core = *this;
    pipeline = std::make_unique<SinglePipeline>(*context_, /*several=*/false, lane_wise, memory, core);
  }

  // Runs the cycle up to issue; then the slot issues, if it is given and there is room.
  bool Cycle(uint64_t now, SlotId issue = kNoSlot) {
    now_ = now;
    pipeline->WriteBack(now);
    pipeline->Advance(now);
    if (issue == kNoSlot || !pipeline->HasRoom(0)) return false;
    pipeline->Issue(0, std::vector<SlotId>{issue}, now, 0);
    return true;
  }

  HandMemory memory;
  std::unique_ptr<SinglePipeline> pipeline;
  std::map<SlotId, uint64_t> written;    // and when
  std::map<SlotId, uint64_t> submitted;  // and when
  int write_backs = 0;
  AccessId latest = 0;

 private:
  const Step* AccessOf(SlotId slot) const override { return slot < 100 ? nullptr : &load_; }
  LaneMask LanesOf(SlotId /*slot*/) const override { return 1; }
  void SubmitAccess(AccessId id, const SinglePipeline::Access& access, heddle::replay::Cycle now) override {
    latest = id;
    submitted[access.slot[0]] = now;
    memory.Submit({}, now);
  }
  void WriteBack(SlotId slot, LaneMask /*lanes*/) override {
    written[slot] = now_;
    ++write_backs;
  }
  bool write_back_blocked() const override { return false; }

  trace::Program program_;
  std::unique_ptr<trace::TraceReader> trace_;
  machine::v1::Machine machine_;
  std::unique_ptr<LaunchContext> context_;
  Step load_;
  uint64_t now_ = 0;
};

TEST(SinglePipeline, ArithmeticIsWrittenBackAfterItsDepthAndOneWarpIssuesPerPeriod) {
  for (const uint32_t simd_width : {32u, 8u}) {
    const uint64_t period = 32 / simd_width;
    Bench bench(15, 32, simd_width);
    for (uint64_t now = 0; now < 100; ++now) {
      if (now % period == 0) {
        EXPECT_TRUE(bench.Cycle(now, static_cast<SlotId>(now / period)));
      } else {
        bench.Cycle(now);
      }
    }
    for (SlotId slot = 0; slot * period + 15 < 100; ++slot) EXPECT_EQ(bench.written.at(slot), slot * period + 15);
  }
}

TEST(SinglePipeline, AHitComesThroughTheRegisterBehindTheStage) {
  Bench bench(8, 4, 4);
  bench.Cycle(0, 100);
  bench.Cycle(1, 1);
  for (uint64_t now = 2; now < 7; ++now) bench.Cycle(now);
  EXPECT_EQ(bench.submitted.at(100), 6);  // in the stage in 7
  // Cycle 7: the memory makes the access, the data are there in 8.
  EXPECT_TRUE(bench.pipeline->ArriveInStage(bench.latest, 1, 8, /*returned=*/false, 7));
  bench.memory.free = true;
  for (uint64_t now = 7; now < 12; ++now) bench.Cycle(now);
  EXPECT_EQ(bench.written.at(100), 8);
  EXPECT_EQ(bench.written.at(1), 9);
}

TEST(SinglePipeline, BehindAStalledAccessInstructionsCloseUpAndThenIssueStalls) {
  Bench bench(15, 32, 8);  // 14 stages before the memory stage: ceil(14 / 4) = 4 warps
  uint64_t issued = 0;
  std::vector<uint64_t> issues;
  for (uint64_t now = 0; now < 200; now += 1) {
    if (now % 4 == 0 && bench.Cycle(now, static_cast<SlotId>(issued == 0 ? 100 : issued))) {
      ++issued;
      issues.push_back(now);
    } else if (now % 4 != 0) {
      bench.Cycle(now);
    }
  }
  EXPECT_EQ(issues, (std::vector<uint64_t>{0, 4, 8, 12, 16}));  // one in the stage, four behind it
  // The access is made in 200, as a miss: the next is in the stage in 201, and the others close up behind it.
  bench.memory.free = true;
  for (uint64_t now = 200; now < 230; ++now) bench.Cycle(now);
  EXPECT_EQ(bench.written.at(1), 202);
  EXPECT_EQ(bench.written.at(2), 206);
  EXPECT_EQ(bench.written.at(4), 214);
}

TEST(SinglePipeline, ReturnedMissesAreWrittenFirstAndHoldThePipelineUp) {
  Bench bench(8, 4, 2);  // two cycles per warp
  bench.Cycle(0, 100);
  for (uint64_t now = 1; now < 9; ++now) bench.Cycle(now);
  bench.memory.free = true;
  bench.Cycle(9);  // missed
  bench.Cycle(10, 1);
  for (uint64_t now = 11; now < 18; ++now) bench.Cycle(now);
  // Both could be written in 18.
  bench.pipeline->Arrive(bench.latest, 1);
  for (uint64_t now = 18; now < 24; ++now) bench.Cycle(now);
  EXPECT_EQ(bench.written.at(100), 18);
  EXPECT_EQ(bench.written.at(1), 20);
}

TEST(SinglePipeline, AFullRegisterStallsTheStageAndTheReturnsGoFirstAgain) {
  Bench bench(3, 4, 4);
  bench.Cycle(0, 100);
  bench.Cycle(1, 1);  // the load is in the stage in 2, this one in 3
  bench.memory.free = true;
  bench.Cycle(2, 2);
  bench.Cycle(3, 3);
  bench.pipeline->Arrive(bench.latest, 1);
  bench.Cycle(4);  // the miss is written; 1 waits in the register, 2 in the stage
  EXPECT_EQ(bench.written.at(100), 4);
  EXPECT_FALSE(bench.written.contains(1));
  for (uint64_t now = 5; now < 9; ++now) bench.Cycle(now);
  EXPECT_EQ(bench.written.at(1), 5);
  EXPECT_EQ(bench.written.at(2), 6);
  EXPECT_EQ(bench.written.at(3), 7);
}

TEST(SinglePipeline, LanesMayBeWrittenBackBeforeTheirAccessHasLeftTheStage) {
  Bench bench(3, 4, 4, /*lane_wise=*/true);
  bench.Cycle(0, 100);
  bench.Cycle(1, 101);  // the first load is in the stage from 2 on
  bench.Cycle(2);
  bench.Cycle(3);
  bench.pipeline->Arrive(bench.latest, 1);
  bench.Cycle(4);
  EXPECT_EQ(bench.written.at(100), 4);
  // The stage is free in 6; the next access has its data in 8.
  bench.Cycle(5);
  EXPECT_FALSE(bench.submitted.contains(101));
  bench.memory.free = true;
  bench.Cycle(6);
  EXPECT_EQ(bench.submitted.at(101), 6);
  EXPECT_TRUE(bench.pipeline->ArriveInStage(bench.latest, 1, 8, /*returned=*/false, 7));
  bench.memory.free = true;
  for (uint64_t now = 7; now < 12; ++now) bench.Cycle(now);
  EXPECT_EQ(bench.written.at(101), 8);
  EXPECT_EQ(bench.write_backs, 2);
}

// --- register banks

// Threads 3, 35, 67, 7, 39 and 9 in one warp, every other thread in one of its own hardware warp; no warp ever
// diverges.
class Mixed final : public SplittingPolicy {
 public:
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override {
    const std::vector<int> chosen = {3, 35, 67, 7, 39, 9};
    Lanes mixed;
    for (size_t i = 0; i < chosen.size(); ++i) {
      mixed.mask |= LaneMask{1} << i;
      mixed.thread[i] = static_cast<ThreadId>(admission.first_thread + chosen[i]);
    }
    editor.Spawn(admission.entry, mixed);
    for (int hw_warp = 0; hw_warp < 3; ++hw_warp) {
      Lanes rest;
      for (int lane = 0; lane < 32; ++lane) {
        const int index = hw_warp * 32 + lane;
        if (std::find(chosen.begin(), chosen.end(), index) != chosen.end()) continue;
        rest.mask |= LaneMask{1} << lane;
        rest.thread[lane] = static_cast<ThreadId>(admission.first_thread + index);
      }
      editor.Spawn(admission.entry, rest);
    }
  }
};
HEDDLE_DIVERGENCE_POLICY(PolicyInfo{.name = "test_mixed",
                                    .summary = "A warp of threads of three rows",
                                    .source = "tests",
                                    .traits = {.lanes = {.any = true}}},
                         [](const DivergenceContext&, const Parameters&) { return std::make_unique<Mixed>(); });

// Cycle of the second issue, behind that of the mixed warp in cycle 0.
uint64_t SecondIssue(uint32_t simd_width, machine::v1::ThesisPipeline::BankPenalty penalty, bool per_issue) {
  RunOptions options;
  options.machine.mutable_core()->set_warp_size(32);
  options.machine.mutable_core()->set_simd_width(simd_width);
  options.machine.mutable_core()->set_max_threads(96);
  options.machine.mutable_core()->set_pipeline_depth(8);
  options.machine.mutable_core()->mutable_thesis()->set_register_bank_penalty(penalty);
  options.machine.mutable_core()->mutable_thesis()->set_bank_penalty_per_issue(per_issue);
  machine::v1::FixedLatency& fixed = *options.machine.mutable_memory()->mutable_fixed();
  for (auto set : {&machine::v1::FixedLatency::set_global_cycles, &machine::v1::FixedLatency::set_shared_cycles,
                   &machine::v1::FixedLatency::set_local_cycles, &machine::v1::FixedLatency::set_constant_cycles,
                   &machine::v1::FixedLatency::set_param_cycles, &machine::v1::FixedLatency::set_texture_cycles,
                   &machine::v1::FixedLatency::set_atomic_cycles}) {
    (fixed.*set)(8);
  }
  options.divergence = "test_mixed";
  options.scheduler = "fifo";
  const Outcome outcome =
      RunTrace(*MakeTrace(ProgramBuilder("one").Exit().Build(), 1, std::vector<ThreadTrace>(96)), options);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  return outcome.log.issues().size() < 2 ? 0 : outcome.log.issues()[1].cycle;
}

// Cycles between the two instructions of a single warp.
uint64_t Reissue(const std::string& divergence, bool bypass) {
  RunOptions options;
  options.machine.mutable_core()->set_pipeline_depth(8);
  options.machine.mutable_core()->mutable_thesis()->set_register_read_bypass(bypass);
  options.divergence = divergence;
  const Outcome outcome =
      RunTrace(*MakeTrace(ProgramBuilder("two").Alu(1).Exit().Build(), 1, std::vector<ThreadTrace>(4)), options);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  const auto& issues = outcome.log.issues();
  return issues.size() != 2 ? 0 : issues[1].cycle - issues[0].cycle;
}

TEST(RegisterRead, OnlyPoliciesThatMixWarpsGoThroughTheStage) {  // Fung's thesis, section 5.1.1
  for (const char* divergence : {"pdom", "nrec", "its", "mimd"}) {
    EXPECT_EQ(Reissue(divergence, false), 8) << divergence;
    EXPECT_EQ(Reissue(divergence, true), 7) << divergence;
  }
  for (const char* divergence : {"dwf", "tbc"}) {
    EXPECT_GE(Reissue(divergence, false), 8) << divergence;
    EXPECT_EQ(Reissue(divergence, true), Reissue(divergence, false)) << divergence;
  }
}

TEST(RegisterBanks, ThreeThreadsOfOneHomeLaneCostThreeTwelveOrEightCyclesMore) {
  using machine::v1::ThesisPipeline;
  EXPECT_EQ(SecondIssue(32, ThesisPipeline::BANK_PENALTY_NONE, false), 1);
  EXPECT_EQ(SecondIssue(32, ThesisPipeline::BANK_PENALTY_M, false), 1 + 3);
  EXPECT_EQ(SecondIssue(32, ThesisPipeline::BANK_PENALTY_M_MINUS_1, false), 1 + 2);
  // 8 lanes: issues in every fourth cycle, so the 3 cycles show as 4.
  EXPECT_EQ(SecondIssue(8, ThesisPipeline::BANK_PENALTY_M, false), 4 + 4);
  EXPECT_EQ(SecondIssue(8, ThesisPipeline::BANK_PENALTY_M, true), 4 + 12);
  EXPECT_EQ(SecondIssue(8, ThesisPipeline::BANK_PENALTY_M_MINUS_1, true), 4 + 8);
}

}  // namespace
}  // namespace heddle::replay
