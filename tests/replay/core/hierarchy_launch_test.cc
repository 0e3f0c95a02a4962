// Whole launches on a memory hierarchy, by hand-made kernels: caches and DRAM do what they must, launches drain, hangs
// are reported, and running components that have nothing to do changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "replay/machine/machine.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

// The memory of a GTX 480 behind two SMs with a single pipeline each, so that the kernels of this test can be small.
machine::v1::Machine Gtx480() {
  machine::v1::Machine machine = LoadMachine("fermi_fixed").value();
  *machine.mutable_memory() = LoadMachine("baws_gtx480").value().memory();
  *machine.mutable_clocks() = LoadMachine("baws_gtx480").value().clocks();
  machine.set_sms(2);
  return machine;
}

Outcome OnMachine(const trace::TraceReader& trace, const machine::v1::Machine& machine, bool force_tick = false) {
  RunOptions options;
  options.machine = machine;
  options.force_tick = force_tick;
  return RunTrace(trace, options);
}

constexpr uint64_t kIn = 0x7000'0000;
constexpr uint64_t kOut = 0x7800'0000;
constexpr uint32_t kThreads = 256;

// Each thread reads its own word of `rounds` rows, and writes one.
std::unique_ptr<trace::TraceReader> Stream(uint32_t blocks, uint32_t rounds) {
  const auto program =
      ProgramBuilder("stream").Block("head").Load().Alu().Branch("exit", "head").Block("exit").Store().Exit().Build();
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < blocks * kThreads; ++t) {
    ThreadTrace thread;
    for (uint32_t round = 0; round < rounds; ++round) {
      thread.decisions.push_back(round + 1 < rounds);
      thread.addresses.push_back(kIn + (uint64_t{round} * blocks * kThreads + t) * 4);
    }
    thread.addresses.push_back(kOut + t * 4);
    threads.push_back(thread);
  }
  return MakeTrace(program, blocks, threads);
}

// Each thread reads words all over a region, and adds to one of a few counters.
std::unique_ptr<trace::TraceReader> Scatter(uint32_t blocks, uint32_t rounds) {
  const auto program =
      ProgramBuilder("scatter").Block("head").Load().Alu().Branch("exit", "head").Block("exit").Atomic().Exit().Build();
  uint64_t state = 1;
  const auto next = [&] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; };
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < blocks * kThreads; ++t) {
    ThreadTrace thread;
    for (uint32_t round = 0; round < rounds; ++round) {
      thread.decisions.push_back(round + 1 < rounds);
      thread.addresses.push_back(kIn + next() % (1 << 20) * 4);
    }
    thread.addresses.push_back(kOut + next() % 16 * 4);
    threads.push_back(thread);
  }
  return MakeTrace(program, blocks, threads);
}

TEST(HierarchyLaunchTest, AStreamReadsEveryLineOnceAndWritesWithoutReading) {
  constexpr uint32_t kBlocks = 32;
  constexpr uint32_t kRounds = 6;
  const Outcome outcome = OnMachine(*Stream(kBlocks, kRounds), Gtx480());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  const result::v1::LaunchResult& launch = outcome.launch();
  const uint64_t lines_per_row = kBlocks * kThreads * 4 / 128;
  EXPECT_EQ(launch.l1_data().misses() - launch.l1_data().write_requests(), kRounds * lines_per_row);
  EXPECT_EQ(launch.l1_data().read_requests(), kRounds * lines_per_row);
  EXPECT_EQ(launch.l1_data().write_requests(), lines_per_row);
  EXPECT_EQ(launch.l2().reads(), kRounds * lines_per_row);
  EXPECT_EQ(launch.l2().writes(), lines_per_row);
  EXPECT_EQ(launch.dram().read_requests(), kRounds * lines_per_row);
  EXPECT_EQ(launch.memory_instructions().data_loads(), kRounds * kBlocks * kThreads / 32);
  EXPECT_EQ(launch.memory_instructions().transactions_size(), 1);
  EXPECT_EQ(launch.network_to_memory().messages(), launch.network_to_sms().messages());
}

TEST(HierarchyLaunchTest, AtomicsAreDoneAtTheL2OnceEach) {
  constexpr uint32_t kBlocks = 4;
  const Outcome outcome = OnMachine(*Scatter(kBlocks, 2), Gtx480());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.launch().memory_instructions().data_atomics(), kBlocks * kThreads / 32);
  EXPECT_EQ(outcome.launch().l2().atomics(), outcome.launch().l1_data().atomic_requests());
  // Sixteen words for 32 lanes: some lanes meet, so that there are more passes than operations.
  EXPECT_GT(outcome.launch().l2().atomic_passes(), outcome.launch().l2().atomics());
}

TEST(HierarchyLaunchTest, RunningEverythingInEveryCycleChangesNothing) {
  for (const char* name : {"baws_gtx480", "vtw_gtx480", "thesis_8800gtx", "harp_fermi", "capri_fx5800", "ideal_gtx480",
                           "volta_80sm", "volta_v100", "hopper_h100"}) {
    machine::v1::Machine machine = LoadMachine(name).value();
    machine.set_sms(4);  // at least those of one port of the network
    for (const bool scatter : {false, true}) {
      const auto trace = scatter ? Scatter(6, 4) : Stream(6, 4);
      const Outcome asleep = OnMachine(*trace, machine);
      ASSERT_TRUE(asleep.status.ok()) << name << ": " << asleep.status;
      const Outcome awake = OnMachine(*trace, machine, /*force_tick=*/true);
      ASSERT_TRUE(awake.status.ok()) << name << ": " << awake.status;
      EXPECT_EQ(asleep.launch().DebugString(), awake.launch().DebugString()) << name;
    }
  }
}

// A DRAM controller that runs ahead of the rest would count commands in bins before those of their time.
TEST(HierarchyLaunchTest, TimeSeriesCountWhatHappensInTheTimeInWhichItHappens) {
  RunOptions options;
  options.machine = Gtx480();
  options.metrics.bin_cycles = 100;
  const auto trace = Scatter(6, 4);
  const Outcome asleep = RunTrace(*trace, options);
  ASSERT_TRUE(asleep.status.ok()) << asleep.status;
  EXPECT_GT(asleep.launch().time_series().memory_system().dram_requests_size(), 10);
  options.force_tick = true;
  const Outcome awake = RunTrace(*trace, options);
  ASSERT_TRUE(awake.status.ok()) << awake.status;
  EXPECT_EQ(asleep.launch().time_series().DebugString(), awake.launch().time_series().DebugString());
}

// Threads that diverge, loop for different times, and read all over a region: their cores have cycles in which only the
// memory has something to do, whatever forms the warps and chooses among them.
std::unique_ptr<trace::TraceReader> DivergentScatter(uint32_t blocks) {
  const auto program = ProgramBuilder("divergent")
                           .Block("head")
                           .Load()
                           .Alu()
                           .Branch("even", "odd")
                           .Block("odd")
                           .Alu(2)
                           .Load()
                           .Jump("join")
                           .Block("even")
                           .Alu(2)
                           .Block("join")
                           .Alu(2)
                           .Branch("exit", "head")
                           .Block("exit")
                           .Store()
                           .Exit()
                           .Build();
  uint64_t state = 2;
  const auto next = [&] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; };
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < blocks * kThreads; ++t) {
    ThreadTrace thread;
    const uint64_t rounds = 1 + next() % 4;
    for (uint64_t round = 0; round < rounds; ++round) {
      const bool odd = next() % 2 != 0;
      thread.decisions.push_back(odd);
      thread.decisions.push_back(round + 1 < rounds);
      for (uint32_t i = 0; i <= odd; ++i) thread.addresses.push_back(kIn + next() % (1 << 14) * 4);
    }
    thread.addresses.push_back(kOut + t * 4);
    threads.push_back(thread);
  }
  return MakeTrace(program, blocks, threads);
}

TEST(HierarchyLaunchTest, RunningOnlyTheMemoryInACycleChangesNothing) {
  const struct {
    const char* divergence;
    const char* scheduler;
    const char* fetch;
  } runs[] = {{"pdom", "lrr", "round_robin"},     {"pdom", "gto", "cff"},        {"pdom", "two_level", "round_robin"},
              {"pdom", "swl", "round_robin"},     {"pdom", "mwf", "fef"},        {"dwf", "lrr", "round_robin"},
              {"dwf", "dmaj", "round_robin"},     {"tbc", "gto", "round_robin"}, {"capri", "gto", "round_robin"},
              {"harp", "gto", "round_robin"},     {"lwm", "lrr", "round_robin"}, {"nrec", "gto", "round_robin"},
              {"tbc_plus", "lrr", "round_robin"}, {"nrec", "oldest", "cff"}};
  RunOptions options;
  options.machine = LoadMachine("baws_gtx480").value();
  options.machine.set_sms(2);
  const auto trace = DivergentScatter(4);
  for (const auto& [divergence, scheduler, fetch] : runs) {
    SCOPED_TRACE(std::string(divergence) + " " + scheduler + " " + fetch);
    options.divergence = divergence;
    options.scheduler = scheduler;
    options.fetch = fetch;
    options.force_tick = false;
    const Outcome asleep = RunTrace(*trace, options);
    ASSERT_TRUE(asleep.status.ok()) << asleep.status;
    options.force_tick = true;
    const Outcome awake = RunTrace(*trace, options);
    ASSERT_TRUE(awake.status.ok()) << awake.status;
    EXPECT_EQ(asleep.launch().DebugString(), awake.launch().DebugString());
    EXPECT_EQ(asleep.log.Sorted(), awake.log.Sorted());
  }
}

TEST(HierarchyLaunchTest, AnIdealMemoryIsNotSlowerThanOneWithLimits) {
  machine::v1::Machine ideal = Gtx480();
  ideal.mutable_memory()->mutable_hierarchy()->set_ideal_beyond_l1_cycles(127);  // a hit in the idle L2
  const auto trace = Scatter(8, 8);
  const Outcome limited = OnMachine(*trace, Gtx480());
  const Outcome unlimited = OnMachine(*trace, ideal);
  ASSERT_TRUE(limited.status.ok()) << limited.status;
  ASSERT_TRUE(unlimited.status.ok()) << unlimited.status;
  EXPECT_LT(unlimited.launch().cycles(), limited.launch().cycles());
  EXPECT_FALSE(unlimited.launch().has_l2());
  EXPECT_FALSE(unlimited.launch().has_dram());
  EXPECT_TRUE(unlimited.launch().has_l1_data());
}

TEST(HierarchyLaunchTest, ALaunchLastsUntilItsLastStoreIsAcknowledged) {
  // One warp that only stores: its block retires long before the L2 has the line.
  const auto program = ProgramBuilder("store").Store().Exit().Build();
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < 32; ++t) threads.push_back(Thread({}, {kOut + t * 4}));
  const Outcome outcome = OnMachine(*MakeTrace(program, 1, threads), Gtx480());
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_GT(outcome.launch().cycles(), 120);  // the ROP pipeline
  EXPECT_EQ(outcome.launch().l2().writes(), 1);
}

TEST(HierarchyLaunchTest, ANetworkThatLocksUpIsReportedWithItsQueues) {
  // Two messages of five flits that come interleaved into a buffer of eight stop at four and four.
  machine::v1::Machine machine = Gtx480();
  machine.set_sms(8);
  machine.mutable_memory()->mutable_hierarchy()->mutable_network()->set_no_message_reservation(true);
  const Outcome outcome = OnMachine(*Stream(64, 8), machine);
  ASSERT_FALSE(outcome.status.ok());
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("network to the SMs"));
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("memory of SM"));
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("\ndeadlock under divergence policy 'pdom' on SM"))
      << "which is neither the policy's doing nor that of a barrier";
}

TEST(HierarchyLaunchTest, NoiseChangesTimesAndNothingElse) {
  machine::v1::Machine noisy = Gtx480();
  noisy.mutable_memory()->mutable_hierarchy()->set_jitter_cycles(20);
  const auto trace = Scatter(8, 8);
  const Outcome first = OnMachine(*trace, noisy);
  const Outcome again = OnMachine(*trace, noisy);
  const Outcome quiet = OnMachine(*trace, Gtx480());
  ASSERT_TRUE(first.status.ok()) << first.status;
  EXPECT_EQ(first.launch().DebugString(), again.launch().DebugString());
  const Outcome ticked = OnMachine(*trace, noisy, /*force_tick=*/true);
  EXPECT_EQ(first.launch().DebugString(), ticked.launch().DebugString()) << "the noise does not depend on who looks";
  EXPECT_NE(first.launch().cycles(), quiet.launch().cycles());
  EXPECT_EQ(first.launch().warp_instructions(), quiet.launch().warp_instructions());
}

}  // namespace
}  // namespace heddle::replay
