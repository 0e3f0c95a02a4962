// The fast path through arithmetic must not be seen in any result. It is not taken under an observer of
// issues, and not by SMs that run in step with the others, so that both are references for it.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "replay/machine/machine.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;
using trace::testing::ThreadTrace;

constexpr uint32_t kThreads = 160;

// Long phases of arithmetic on all units, with branches that whole warps take alike, and between them what ends a
// phase: threads that part and meet again, shared and global memory, barriers, exits.
std::unique_ptr<trace::TraceReader> ArithmeticPhases(uint32_t blocks, uint32_t threads_per_block) {
  const auto program = ProgramBuilder("phases")
                           .Block("head")
                           .Alu(5)
                           .Op(trace::v1::OP_SFU, 2)
                           .Op(trace::v1::OP_FP64)
                           .Alu(3)
                           .Branch("odd", "even")
                           .Block("odd")
                           .Alu(4)
                           .Jump("again")
                           .Block("even")
                           .Op(trace::v1::OP_INT_MUL, 2)
                           .Block("again")
                           .Alu(2)
                           .Branch("parts", "head")
                           .Block("parts")
                           .Load(trace::v1::SPACE_SHARED)
                           .Alu(3)
                           .Branch("left", "right")
                           .Block("left")
                           .Alu(7)
                           .Block("right")
                           .Alu(1)
                           .Barrier()
                           .Branch("out", "head")
                           .Block("out")
                           .Load()
                           .Alu(20)
                           .Store()
                           .Exit()
                           .Build();
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < uint64_t{blocks} * threads_per_block; ++t) {
    const uint64_t warp = t % threads_per_block / 32;
    ThreadTrace thread;
    for (uint64_t phase = 0; phase < 3; ++phase) {
      const uint64_t rounds = 5 + (warp * 3 + phase * 5 + t / threads_per_block) % 7 * 4;
      for (uint64_t round = 0; round < rounds; ++round) {
        thread.decisions.push_back((round + warp) % 2 == 0);  // even
        thread.decisions.push_back(round + 1 < rounds);       // head
      }
      thread.addresses.push_back(0x1000000 + (t + phase) * 4 % 4096);
      thread.decisions.push_back(static_cast<uint8_t>((t * 5 + phase) % 3 == 0 && warp != 0));  // right
      thread.decisions.push_back(phase < 2);                                                    // head
    }
    thread.addresses.push_back(0x7000'0000 + t * 4);
    thread.addresses.push_back(0x7800'0000 + t * 4);
    threads.push_back(thread);
  }
  return MakeTrace(program, blocks, threads);
}

// The launch's result without anybody who watches.
std::string Unwatched(const trace::TraceReader& trace, const RunOptions& options) {
  ReplayOptions replay;
  replay.machine = options.machine;
  replay.force_tick = options.force_tick;
  Configuration configuration;
  configuration.divergence = PolicySpec::FromText(options.divergence);
  configuration.scheduler = PolicySpec::FromText(options.scheduler);
  configuration.fetch = PolicySpec::FromText(options.fetch);
  const auto results = Replay(trace, {configuration}, replay);
  return results.ok() ? results->at(0).launch(0).DebugString() : results.status().ToString();
}

void ExpectEqual(const trace::TraceReader& trace, RunOptions options, const std::string& what) {
  SCOPED_TRACE(what + " " + options.divergence + " " + options.scheduler + " " + options.fetch);
  const std::string quick = Unwatched(trace, options);
  const Outcome watched = RunTrace(trace, options);
  ASSERT_TRUE(watched.status.ok()) << watched.status;
  EXPECT_EQ(quick, watched.launch().DebugString());
  options.force_tick = true;
  EXPECT_EQ(quick, Unwatched(trace, options));
}

RunOptions Options() {
  RunOptions options;
  options.machine = LoadMachine("baws_gtx480").value();
  options.machine.set_sms(3);
  return options;
}

TEST(ArithmeticFastPath, IsNotSeenUnderAnyPolicy) {
  const auto trace = ArithmeticPhases(9, kThreads);
  for (const char* scheduler : {"gto", "lrr", "oldest", "fifo", "random", "sticky_rr", "two_level", "swl", "ccws",
                                "gcaws", "mwf", "progress"}) {
    RunOptions options = Options();
    options.scheduler = scheduler;
    ExpectEqual(*trace, options, "policies");
  }
  for (const char* divergence : {"dws", "its", "thread_frontiers", "capri", "dwf", "nrec"}) {
    RunOptions options = Options();
    options.divergence = divergence;
    options.scheduler = "gto";
    ExpectEqual(*trace, options, "policies");
  }
  for (const char* fetch : {"cff", "fef"}) {
    RunOptions options = Options();
    options.fetch = fetch;
    ExpectEqual(*trace, options, "policies");
  }
}

// While a store is on its way through the memory stage nothing of the SM is under way, so that it may still run alone;
// other warps have results before and after the cycle in which the stage has to run.
TEST(ArithmeticFastPath, LetsStoresThroughTheMemoryStageInTime) {
  const auto program = ProgramBuilder("stores")
                           .Block("head")
                           .Alu(2)
                           .Branch("stores", "computes")
                           .Block("stores")
                           .Alu(40)
                           .Store()
                           .Jump("again")
                           .Block("computes")
                           .Alu(1)
                           .Block("again")
                           .Alu(3)
                           .Branch("out", "head")
                           .Block("out")
                           .Exit()
                           .Build();
  constexpr uint64_t kBlocks = 15;
  constexpr uint64_t kWarps = 3;
  constexpr uint64_t kRounds = 60;
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < kBlocks * kWarps * 32; ++t) {
    const uint64_t warp = t / 32;
    ThreadTrace thread;
    for (uint64_t round = 0; round < kRounds; ++round) {
      const bool computes = (round + warp % kWarps * 3) % (5 + warp / kWarps % 4) != 0;
      thread.decisions.push_back(computes);
      thread.decisions.push_back(round + 1 < kRounds);  // head
      // All in one memory partition, so that requests that are late meet others in the network.
      if (!computes) thread.addresses.push_back(0x7000'0000 + t % 32 * 4);
    }
    threads.push_back(thread);
  }
  const auto trace = MakeTrace(program, kBlocks, threads);
  for (const char* scheduler : {"gto", "lrr"}) {
    RunOptions options = Options();
    options.machine.set_sms(kBlocks);
    options.scheduler = scheduler;
    ExpectEqual(*trace, options, "stores");
  }
}

TEST(ArithmeticFastPath, IsNotSeenOnOtherMachines) {
  const auto trace = ArithmeticPhases(9, kThreads);
  const auto ragged = ArithmeticPhases(7, 149);  // warps with empty lanes
  const auto expect = [&](const std::string& what, const auto& change) {
    RunOptions options = Options();
    options.scheduler = "gto";
    change(*options.machine.mutable_core());
    ExpectEqual(*trace, options, what);
    ExpectEqual(*ragged, options, what + ", ragged");
  };
  using machine::v1::Core;
  expect("as it is", [](Core&) {});
  expect("one block", [](Core& core) { core.set_max_blocks(1); });
  expect("one scheduler", [](Core& core) { core.set_schedulers(1); });
  expect("four schedulers", [](Core& core) { core.set_schedulers(4); });
  expect("fetch into a free slot", [](Core& core) {
    core.mutable_ibuffer()->set_entries(4);
    core.mutable_ibuffer()->set_fetch_when(machine::v1::InstructionBuffer::FREE_SLOT);
  });
  expect("narrow units", [](Core& core) {
    core.set_simd_width(8);
    core.set_skip_empty_groups(true);
  });
  // Operands wait for one another, so that results come later and later.
  expect("one register bank", [](Core& core) {
    core.mutable_units()->set_register_banks(1);
    core.mutable_units()->set_sp_collectors(0);
    core.mutable_units()->set_sfu_collectors(0);
    core.mutable_units()->set_sp(8);
  });
}

}  // namespace
}  // namespace heddle::replay
