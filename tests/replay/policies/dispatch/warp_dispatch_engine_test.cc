// Dispatchers of single warps in the whole engine: virtual thread blocks and warp-level dispatch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;
using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

constexpr char kFree[] =
    "virtual_blocks:once_instructions=0,iteration_instructions=0,dimension_instructions=0,next_block_latency=0";

// Figure 1 of the VTW paper on a machine: three blocks of three warps of one thread, whose times are turns of a loop
// with an instruction of 1000 cycles, five units of the figure each.
TEST(VirtualBlocks, Figure1OnTheToyMachine) {
  const trace::v1::KernelProgram program =
      ProgramBuilder("figure1").Block("loop").Alu(1).Branch("end", "loop").Block("end").Exit().Build();
  std::vector<ThreadTrace> threads;
  for (const int units : {40, 50, 30, 50, 30, 40, 25, 40, 45}) {
    std::vector<uint8_t> decisions(static_cast<size_t>(units / 5 - 1), 1);
    decisions.push_back(0);
    threads.push_back(Thread(decisions));
  }
  const auto trace = MakeTrace(program, 3, threads);
  RunOptions options;
  options.machine.mutable_core()->set_warp_size(1);
  options.machine.mutable_core()->set_simd_width(1);
  options.machine.mutable_core()->set_max_blocks(1);
  machine::v1::ScriptedLatency& latency = *options.machine.mutable_core()->add_scripted_latency();
  latency.set_instruction(0);
  latency.set_last_thread(2);
  latency.set_cycles(1000);
  const auto units = [&](const std::string& dispatch) {
    options.dispatch = dispatch;
    const Outcome outcome = RunTrace(*trace, options);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status;
    return outcome.status.ok() ? static_cast<double>(outcome.launch().cycles()) / 200 : 0;
  };
  EXPECT_NEAR(units("thread_blocks"), 145, 0.5);
  EXPECT_NEAR(units(kFree), 120, 0.5);
  EXPECT_NEAR(units(absl::StrCat(kFree, ",index=lowest_to_highest_lane")), 135, 0.5);
  // A warp that ends gives its hardware warp to the first warp of the next block, and so on.
  EXPECT_NEAR(units("warps"), 145, 0.5) << "one block at a time on the SM, in whatever parts";
}

// What the threads do, whoever runs them: the PCs of each in order.
using Paths = std::map<std::pair<uint64_t, uint32_t>, std::vector<Pc>>;
Paths PathsOf(const IssueLog& log) {
  Paths paths;
  for (const LoggedIssue& issue : log.issues()) {
    for (const LoggedIssue::Member& member : issue.members) {
      paths[{member.block, member.thread}].push_back(member.pc);
    }
  }
  return paths;
}

std::vector<machine::v1::Machine> Machines() {
  std::vector<machine::v1::Machine> machines = {Toy()};
  for (const char* name : {"fermi_fixed", "fermi_buffer_fixed", "baws_gtx480"}) {
    auto machine = LoadMachine(name);
    EXPECT_TRUE(machine.ok()) << machine.status();
    machine->set_sms(2);
    machine->mutable_core()->set_max_blocks(2);
    machine->mutable_dispatch()->set_spread_small_grids(false);
    machines.push_back(*std::move(machine));
  }
  return machines;
}

std::unique_ptr<trace::TraceReader> RandomTrace(uint64_t seed, uint32_t blocks, uint32_t threads) {
  trace::testing::RandomProgramOptions options;
  options.barriers = true;
  trace::v1::KernelProgram program = trace::testing::RandomProgram(seed, options);
  trace::testing::RandomThreadOptions thread_options;
  thread_options.most_instructions = 150;
  const auto checked = trace::Program::Create(program);
  EXPECT_TRUE(checked.ok()) << checked.status();
  std::vector<ThreadTrace> all;
  for (uint64_t thread = 0; thread < uint64_t{blocks} * threads; ++thread) {
    all.push_back(trace::testing::RandomThread(*checked, seed, thread, thread_options));
  }
  return MakeTrace(program, blocks, all);
}

// Every thread of the grid runs its recording exactly once, whichever dispatcher, scheduler and front end; and an
// engine that runs every cycle gives the same.
TEST(WarpDispatch, EveryThreadRunsOnceWithBarriersAndEarlyExits) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const uint32_t threads = seed % 3 == 0 ? 10 : 75;
    const auto trace = RandomTrace(seed, 9, threads);
    for (const machine::v1::Machine& machine : Machines()) {
      RunOptions options;
      options.machine = machine;
      if (options.machine.core().max_threads() < 2 * threads) options.machine.mutable_core()->set_max_threads(256);
      const Outcome whole = RunTrace(*trace, options);
      ASSERT_TRUE(whole.status.ok()) << machine.name() << " seed " << seed << ": " << whole.status;
      const Paths expected = PathsOf(whole.log);
      for (const std::string dispatch : {"virtual_blocks", "virtual_blocks:index=slowest_lane",
                                         "virtual_blocks:index=lowest_to_highest_lane", "warps"}) {
        for (const auto& [divergence, scheduler] :
             {std::pair<const char*, const char*>{"pdom", "progress"}, {"nrec", "gto"}, {"pdom", "mwf"}}) {
          SCOPED_TRACE(
              absl::StrCat("seed ", seed, " ", machine.name(), " ", dispatch, " ", divergence, " ", scheduler));
          options.dispatch = dispatch;
          options.divergence = divergence;
          options.scheduler = scheduler;
          options.force_tick = false;
          const Outcome outcome = RunTrace(*trace, options);
          ASSERT_TRUE(outcome.status.ok()) << outcome.status;
          EXPECT_EQ(PathsOf(outcome.log), expected);
          options.force_tick = true;
          const Outcome ticked = RunTrace(*trace, options);
          ASSERT_TRUE(ticked.status.ok()) << ticked.status;
          EXPECT_EQ(ticked.result.ShortDebugString(), outcome.result.ShortDebugString());
          if (HasFailure()) return;
        }
      }
    }
  }
}

// A grid that fits the machine at once has one iteration: nothing is left of virtual blocks but the wrapper's
// instructions.
TEST(VirtualBlocks, OneIterationIsTheBaselineButForTheWrapper) {
  for (uint64_t seed = 20; seed < 28; ++seed) {
    const auto trace = RandomTrace(seed, 3, 40);
    for (const machine::v1::Machine& machine : Machines()) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, " ", machine.name()));
      RunOptions options;
      options.machine = machine;
      options.machine.set_sms(2);
      options.machine.mutable_core()->set_max_threads(256);
      options.machine.mutable_core()->set_max_blocks(2);
      options.scheduler = "gto";
      const Outcome baseline = RunTrace(*trace, options);
      ASSERT_TRUE(baseline.status.ok()) << baseline.status;
      options.dispatch = kFree;
      const Outcome free = RunTrace(*trace, options);
      ASSERT_TRUE(free.status.ok()) << free.status;
      EXPECT_EQ(free.log.Sorted(), baseline.log.Sorted());
      EXPECT_EQ(free.launch().cycles(), baseline.launch().cycles());
      EXPECT_EQ(free.launch().stalls().ShortDebugString(), baseline.launch().stalls().ShortDebugString());
      options.dispatch = "virtual_blocks:once_instructions=6,iteration_instructions=4";
      const Outcome wrapped = RunTrace(*trace, options);
      ASSERT_TRUE(wrapped.status.ok()) << wrapped.status;
      const uint64_t warps = 3 * ((40 + machine.core().warp_size() - 1) / machine.core().warp_size());
      EXPECT_EQ(wrapped.launch().inserted_instructions(), warps * 10);
      EXPECT_EQ(wrapped.launch().thread_instructions(), baseline.launch().thread_instructions());
      // The wrapper is not fetched: where the first instructions come from memory, it may run in their shadow.
      EXPECT_GE(wrapped.launch().cycles(), baseline.launch().cycles());
      if (machine.name() == "toy") {
        EXPECT_GT(wrapped.launch().cycles(), baseline.launch().cycles());
      }
    }
  }
}

// Section 4.4: a warp that has gone on may not touch shared memory before its siblings have ended their iteration.
TEST(VirtualBlocks, SharedMemoryWaitsForTheSiblings) {
  const trace::v1::KernelProgram program = ProgramBuilder("shared")
                                               .Block("loop")
                                               .Alu(1)
                                               .Branch("end", "loop")
                                               .Block("end")
                                               .Store(trace::v1::SPACE_SHARED)
                                               .Exit()
                                               .Build();
  std::vector<ThreadTrace> threads;
  for (int block = 0; block < 4; ++block) {
    for (const int turns : {1, 60}) {
      std::vector<uint8_t> decisions(static_cast<size_t>(turns - 1), 1);
      decisions.push_back(0);
      threads.push_back(Thread(decisions, {0}));
    }
  }
  const auto trace = MakeTrace(program, 4, threads);
  for (machine::v1::Machine machine : Machines()) {
    SCOPED_TRACE(machine.name());
    machine.set_sms(1);
    machine.mutable_core()->set_max_blocks(1);
    machine.mutable_core()->set_warp_size(1);
    machine.mutable_core()->set_simd_width(1);
    RunOptions options;
    options.machine = machine;
    options.dispatch = kFree;
    const Outcome outcome = RunTrace(*trace, options);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status;
    std::map<uint64_t, Cycle> last;                      // issue of the block
    std::map<uint64_t, std::pair<Cycle, Cycle>> stores;  // of the block: first and last
    std::map<uint64_t, Cycle> first;
    for (const LoggedIssue& issue : outcome.log.issues()) {
      const uint64_t block = issue.members[0].block;
      first.try_emplace(block, issue.cycle);
      last[block] = issue.cycle;
      if (issue.members[0].pc != 2) continue;
      const auto [it, fresh] = stores.try_emplace(block, issue.cycle, issue.cycle);
      it->second.second = issue.cycle;
    }
    for (uint64_t block = 1; block < 4; ++block) {
      EXPECT_GT(stores[block].first, last[block - 1]) << "block " << block;
      EXPECT_LT(first[block], last[block - 1]) << "the other instructions do not wait";
    }
  }
}

TEST(WarpDispatch, RefusedPairsSayWhy) {
  Configuration configuration;
  configuration.dispatch = {"virtual_blocks", ""};
  for (const char* divergence : {"tbc", "capri", "dwf", "mimd", "harp", "lwm"}) {
    configuration.divergence = {divergence, ""};
    EXPECT_THAT(std::string(Validate(configuration).message()), HasSubstr("single warps")) << divergence;
  }
  configuration.divergence = {"pdom", ""};
  EXPECT_TRUE(Validate(configuration).ok());
  for (const char* scheduler : {"swl", "two_level"}) {
    configuration.scheduler = {scheduler, ""};
    EXPECT_THAT(std::string(Validate(configuration).message()), HasSubstr("hold back")) << scheduler;
  }
  configuration.dispatch = {"warps", ""};
  EXPECT_TRUE(Validate(configuration).ok());
}

}  // namespace
}  // namespace heddle::replay
