// Memory of fixed latency per space, and what a core does while it waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/memory/fixed_latency.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using testing::ElementsAre;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;
using trace::v1::MemorySpace;

constexpr uint64_t kShared = 0x1000'0000;
constexpr uint64_t kLocal = 0x2000'0000;
constexpr uint64_t kGlobal = 0x7000'0000;

trace::v1::FileHeader Windows() {
  trace::v1::FileHeader header = trace::testing::MakeHeader();
  header.clear_window();
  auto& shared = *header.add_window();
  shared.set_space(trace::v1::SPACE_SHARED);
  shared.set_base(kShared);
  shared.set_bytes(1 << 16);
  auto& local = *header.add_window();
  local.set_space(trace::v1::SPACE_LOCAL);
  local.set_base(kLocal);
  local.set_bytes(1 << 16);
  return header;
}

// global 40, shared 10, local 20, constant 3, param 4, texture 30, atomic 50
RunOptions Latencies() {
  RunOptions options;
  machine::v1::FixedLatency& fixed = *options.machine.mutable_memory()->mutable_fixed();
  fixed.set_global_cycles(40);
  fixed.set_shared_cycles(10);
  fixed.set_local_cycles(20);
  fixed.set_constant_cycles(3);
  fixed.set_param_cycles(4);
  fixed.set_texture_cycles(30);
  fixed.set_atomic_cycles(50);
  return options;
}

// Cycles of one warp of 4 that runs one memory instruction and exits, less the exit's.
uint64_t CyclesOf(const trace::v1::KernelProgram& program, const std::vector<uint64_t>& addresses) {
  std::vector<ThreadTrace> threads;
  for (int i = 0; i < 4; ++i) threads.push_back(Thread({}, {addresses[i % addresses.size()]}));
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads, Windows()), Latencies());
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  return outcome.status.ok() ? outcome.launch().cycles() - 1 : 0;
}

trace::v1::KernelProgram LoadOf(MemorySpace space) { return ProgramBuilder("load").Load(space).Exit().Build(); }
trace::v1::KernelProgram AtomicOf(MemorySpace space) { return ProgramBuilder("atomic").Atomic(space).Exit().Build(); }

TEST(FixedLatency, EverySpaceTakesItsOwnTime) {
  EXPECT_EQ(CyclesOf(LoadOf(trace::v1::SPACE_GLOBAL), {kGlobal}), 40);
  EXPECT_EQ(CyclesOf(LoadOf(trace::v1::SPACE_SHARED), {kShared}), 10);
  EXPECT_EQ(CyclesOf(LoadOf(trace::v1::SPACE_LOCAL), {kLocal}), 20);
  EXPECT_EQ(CyclesOf(LoadOf(trace::v1::SPACE_CONSTANT), {0x100}), 3);
  EXPECT_EQ(CyclesOf(LoadOf(trace::v1::SPACE_PARAM), {0x100}), 4);
}

TEST(FixedLatency, AGenericAccessTakesTheTimeOfItsSlowestLane) {
  EXPECT_EQ(CyclesOf(LoadOf(trace::v1::SPACE_GENERIC), {kShared}), 10);
  EXPECT_EQ(CyclesOf(LoadOf(trace::v1::SPACE_GENERIC), {kShared, kLocal}), 20);
  EXPECT_EQ(CyclesOf(LoadOf(trace::v1::SPACE_GENERIC), {kShared, kShared + 4, kGlobal, kLocal}), 40);
  EXPECT_EQ(CyclesOf(LoadOf(trace::v1::SPACE_GENERIC), {kShared + (1 << 16)}), 40);  // just outside the window
}

TEST(FixedLatency, AtomicsAreSlowOutsideSharedMemoryOnly) {
  EXPECT_EQ(CyclesOf(AtomicOf(trace::v1::SPACE_GLOBAL), {kGlobal}), 50);
  EXPECT_EQ(CyclesOf(AtomicOf(trace::v1::SPACE_SHARED), {kShared}), 10);
  EXPECT_EQ(CyclesOf(AtomicOf(trace::v1::SPACE_GENERIC), {kShared}), 10);
  EXPECT_EQ(CyclesOf(AtomicOf(trace::v1::SPACE_GENERIC), {kShared, kGlobal}), 50);
}

TEST(SchedulerCycles, AreMemoryOnlyWhileEveryLiveThreadWaitsOutsideSharedMemory) {
  // Cycle 0 issues, 1 to 39 wait, 40 issues the exit.
  const auto classes = [](const trace::v1::KernelProgram& program, uint64_t address) {
    const Outcome outcome =
        RunTrace(*MakeTrace(program, 1, std::vector<ThreadTrace>(4, Thread({}, {address})), Windows()), Latencies());
    return outcome.launch().scheduler_cycles();
  };
  EXPECT_EQ(classes(LoadOf(trace::v1::SPACE_GLOBAL), kGlobal).memory(), 39);
  EXPECT_EQ(classes(LoadOf(trace::v1::SPACE_GLOBAL), kGlobal).issued(), 2);
  EXPECT_EQ(classes(LoadOf(trace::v1::SPACE_SHARED), kShared).memory(), 0);
  EXPECT_EQ(classes(LoadOf(trace::v1::SPACE_SHARED), kShared).idle(), 9);
  EXPECT_EQ(classes(LoadOf(trace::v1::SPACE_GENERIC), kShared).idle(), 9);
  EXPECT_EQ(classes(LoadOf(trace::v1::SPACE_GENERIC), kLocal).memory(), 19);
}

TEST(SchedulerCycles, AWarpAtABarrierMakesThemIdle) {
  const auto program = ProgramBuilder("wait")
                           .Block("start")
                           .Branch("load", "sync")
                           .Block("load")
                           .Load()
                           .Jump("sync")
                           .Block("sync")
                           .Barrier()
                           .Exit()
                           .Build();
  std::vector<ThreadTrace> threads(4, Thread({0}, {kGlobal}));
  threads.resize(8, Thread({1}));
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads, Windows()), Latencies());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.launch().scheduler_cycles().memory(), 0);
  EXPECT_GT(outcome.launch().idle_threads().barrier(), 30 * 4);
}

// ---------------------------------------------------------------------------------------------- lanes that go on alone

class TakesEarlyLanes : public SplittingPolicy {
 public:
  uint32_t interests() const override { return kLaneReturns; }
  bool LanesReturned(SlotId, LaneMask lanes, WarpEditor&) override {
    seen.push_back(lanes);
    return take;
  }
  bool take = true;
  static std::vector<LaneMask> seen;
};
std::vector<LaneMask> TakesEarlyLanes::seen;

TEST(LanesReturned, TellsOfEveryPartAndLetsItGoOnAlone) {
  RegisterPolicy("takes_lanes", [](const DivergenceContext&) { return std::make_unique<TakesEarlyLanes>(); });
  const auto program = ProgramBuilder("parts").Load(trace::v1::SPACE_GENERIC).Alu(1).Exit().Build();
  std::vector<ThreadTrace> threads;
  for (const uint64_t address : {kShared, kGlobal, kLocal, kShared + 4}) threads.push_back(Thread({}, {address}));
  RunOptions options = Latencies();
  options.divergence = "takes_lanes";
  TakesEarlyLanes::seen.clear();
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads, Windows()), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_THAT(TakesEarlyLanes::seen, ElementsAre(0b1001, 0b0100));
  EXPECT_EQ(outcome.log.text(), "0:0[0 1 2 3] 10:1[0 - - 3] 11:2[0 - - 3] 20:1[- - 2] 21:2[- - 2] 40:1[- 1] 41:2[- 1]");
}

TEST(LanesReturned, ThatAreDeclinedWaitForTheRest) {
  RegisterPolicy("keeps_lanes", [](const DivergenceContext&) {
    auto policy = std::make_unique<TakesEarlyLanes>();
    policy->take = false;
    return policy;
  });
  const auto program = ProgramBuilder("parts").Load(trace::v1::SPACE_GENERIC).Alu(1).Exit().Build();
  std::vector<ThreadTrace> threads;
  for (const uint64_t address : {kShared, kGlobal, kLocal, kShared + 4}) threads.push_back(Thread({}, {address}));
  RunOptions options = Latencies();
  options.divergence = "keeps_lanes";
  const Outcome outcome = RunTrace(*MakeTrace(program, 1, threads, Windows()), options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.log.text(), "0:0[0 1 2 3] 40:1[0 1 2 3] 41:2[0 1 2 3]");
}

}  // namespace
}  // namespace heddle::replay
