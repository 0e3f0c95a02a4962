// An SM that nothing can reach is run ahead of the others: that must not be seen in any result.
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

constexpr uint32_t kThreads = 96;

// Long phases without memory, with shared memory and with barriers between loads and stores of global memory. Warps
// and blocks take different numbers of rounds, so that SMs retire blocks at different times, some of them while others
// are far ahead.
std::unique_ptr<trace::TraceReader> LongPhases(uint32_t blocks) {
  const auto program = ProgramBuilder("phases")
                           .Block("head")
                           .Alu(6)
                           .Load(trace::v1::SPACE_SHARED)
                           .Alu(2)
                           .Branch("again", "left")
                           .Block("left")
                           .Alu(9)
                           .Block("again")
                           .Alu(1)
                           .Branch("out", "head")
                           .Block("out")
                           .Barrier()
                           .Load()
                           .Alu(30)
                           .Store()
                           .Alu(10)
                           .Exit()
                           .Build();
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < uint64_t{blocks} * kThreads; ++t) {
    const uint64_t block = t / kThreads;
    const uint64_t rounds = 2 + block * 7 % 11 + t / 32 % 3;
    ThreadTrace thread;
    for (uint64_t round = 0; round < rounds; ++round) {
      thread.addresses.push_back(0x1000000 + (t % kThreads + round * 33) * 4 % 8192);
      thread.decisions.push_back(static_cast<uint8_t>((t * 5 + round * 3 + t / 7) % 3 == 0));
      thread.decisions.push_back(round + 1 < rounds);
    }
    thread.addresses.push_back(0x7000'0000 + t * 4 % 4096);
    thread.addresses.push_back(0x7800'0000 + t * 4);
    threads.push_back(thread);
  }
  return MakeTrace(program, blocks, threads);
}

TEST(RunAheadTest, ChangesNoCounter) {
  const auto trace = LongPhases(40);
  for (const char* name : {"baws_gtx480", "thesis_8800gtx", "hopper_h100", "fermi_fixed", "fermi_buffer_fixed"}) {
    for (const uint32_t blocks : {1u, 3u}) {  // per SM: few waves of blocks, or one
      for (const char* scheduler : {"lrr", "gto"}) {
        RunOptions options;
        options.machine = LoadMachine(name).value();
        options.machine.set_sms(6);
        options.machine.mutable_core()->set_max_blocks(blocks);
        options.scheduler = scheduler;
        const Outcome ahead = RunTrace(*trace, options);
        ASSERT_TRUE(ahead.status.ok()) << name << ": " << ahead.status;
        options.force_tick = true;
        const Outcome in_step = RunTrace(*trace, options);
        ASSERT_TRUE(in_step.status.ok()) << name << ": " << in_step.status;
        EXPECT_EQ(ahead.launch().DebugString(), in_step.launch().DebugString()) << name << " " << scheduler;
        EXPECT_TRUE(ahead.launch().warp_progress().has_dwr()) << "there are several waves of blocks";
      }
    }
  }
}

// A block of three computes for long and loads once at its end; the others store line after line.
std::unique_ptr<trace::TraceReader> OneInThreeComputes(uint32_t blocks) {
  const auto program = ProgramBuilder("one_in_three")
                           .Block("head")
                           .Alu(1)
                           .Branch("stream", "compute")
                           .Block("stream")
                           .Store()
                           .Alu(1)
                           .Branch("out", "stream")
                           .Block("compute")
                           .Alu(20)
                           .Branch("last", "compute")
                           .Block("last")
                           .Load()
                           .Alu(2)
                           .Block("out")
                           .Exit()
                           .Build();
  constexpr uint64_t kRounds = 50;
  std::vector<ThreadTrace> threads;
  for (uint64_t t = 0; t < uint64_t{blocks} * kThreads; ++t) {
    const bool computes = t / kThreads % 3 == 0;
    ThreadTrace thread;
    thread.decisions.push_back(computes);
    for (uint64_t round = 0; round < kRounds; ++round) {
      thread.decisions.push_back(round + 1 < kRounds);
      if (!computes) thread.addresses.push_back(0x7800'0000 + (round * blocks * kThreads + t) * 128);
    }
    if (computes) thread.addresses.push_back(0x7000'0000 + t * 4);
    threads.push_back(thread);
  }
  return MakeTrace(program, blocks, threads);
}

// Where SMs share a port of the network, they wait in line for it: one that is ahead must not take its place before its
// time.
TEST(RunAheadTest, TakesNoPlaceInTheLineOfASharedPort) {
  for (const char* name : {"capri_fx5800", "harp_fermi"}) {
    for (const uint32_t blocks : {6u, 15u}) {
      const auto trace = OneInThreeComputes(blocks);
      RunOptions options;
      options.machine = LoadMachine(name).value();
      ASSERT_GT(options.machine.memory().hierarchy().network().sms_per_port(), 1);
      options.machine.set_sms(6);
      options.machine.mutable_core()->set_max_blocks(1);
      const Outcome ahead = RunTrace(*trace, options);
      ASSERT_TRUE(ahead.status.ok()) << name << ": " << ahead.status;
      options.force_tick = true;
      const Outcome in_step = RunTrace(*trace, options);
      ASSERT_TRUE(in_step.status.ok()) << name << ": " << in_step.status;
      EXPECT_EQ(ahead.launch().DebugString(), in_step.launch().DebugString()) << name << ", blocks: " << blocks;
    }
  }
}

// The bound on cycles is met in the same cycle with the same blocks left, wherever the SMs are.
TEST(RunAheadTest, StopsAtTheBoundOnCycles) {
  const auto trace = LongPhases(40);
  for (const uint64_t bound : {100u, 777u, 1500u}) {
    RunOptions options;
    options.machine = LoadMachine("baws_gtx480").value();
    options.machine.set_sms(6);
    options.max_cycles = bound;
    const Outcome ahead = RunTrace(*trace, options);
    options.force_tick = true;
    const Outcome in_step = RunTrace(*trace, options);
    EXPECT_EQ(ahead.status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(ahead.status, in_step.status);
  }
}

}  // namespace
}  // namespace heddle::replay
