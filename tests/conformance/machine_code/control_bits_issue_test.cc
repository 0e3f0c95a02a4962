// Machine code that issues by its control bits: cycles that were worked out by hand from docs/reference/timing.md, in
// both engines, and random programs with random control bits, on which both engines must agree.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "replay/engine/replay.h"
#include "tests/conformance/comparison.h"
#include "tests/conformance/issue_log.h"
#include "tests/reference/reference_engine.h"
#include "tests/reference/small_machine.h"
#include "tests/traces/program_builder.h"
#include "traces/format/program/control_bits.h"
#include "traces/format/write/writer.h"

namespace heddle::replay {
namespace {

namespace v1 = trace::v1;
using machine::v1::Core;
using testing::HasSubstr;
using trace::ControlBits;
using trace::testing::ProgramBuilder;

// ------------------------------------------------------------------------------------------ by hand

// The small machine under control bits; operands of memory are read 6 cycles after issue. Fetched in 0, in the buffer
// at the end of 1: the first instruction issues in 2, and buffers never run dry.
machine::v1::Machine SmallMachine() {
  machine::v1::Machine machine = SmallIBufferMachine();
  machine::v1::Core& core = *machine.mutable_core();
  core.set_dependences(Core::CONTROL_BITS);
  core.mutable_ibuffer()->set_entries(4);
  core.mutable_ibuffer()->set_fetch_instructions(4);
  core.mutable_ibuffer()->set_fetch_when(machine::v1::InstructionBuffer::FREE_SLOT);
  core.mutable_units()->set_memory_operand_read_cycles(6);
  return machine;
}

// The program as machine code with these bits, by instruction; those that are left stall for a cycle.
v1::KernelProgram WithBits(v1::KernelProgram program, const std::vector<ControlBits>& bits) {
  program.set_level(v1::LEVEL_MACHINE);
  for (int pc = 0; pc < program.instruction_size(); ++pc) {
    const auto i = static_cast<size_t>(pc);
    program.mutable_instruction(pc)->set_control(
        trace::PackControl(i < bits.size() ? bits[i] : ControlBits{.stall = 1}));
  }
  return program;
}

struct Outcome {
  std::string
      issues;  // "2:0 3:1": instruction 0 issues in cycle 2; with the first thread, "2:0@4", if there are more warps
  result::v1::LaunchResult launch;
};

// What a thread decides, if it does, and how often it accesses memory.
struct Script {
  std::optional<uint8_t> decision;
  size_t accesses = 0;
};

// One block of threads, which access addresses from 4 times their number on; both engines.
Outcome RunBoth(const v1::KernelProgram& program, const machine::v1::Machine& machine, uint32_t threads,
                const std::vector<Script>& scripts, const Configuration& configuration = {}) {
  const trace::testing::TemporaryFile file("control_bits");
  auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader(), {});
  EXPECT_TRUE(writer.ok()) << writer.status();
  const auto added = (*writer)->AddProgram(program);
  EXPECT_TRUE(added.ok()) << added.status();
  EXPECT_TRUE((*writer)->BeginLaunch(trace::testing::MakeLaunch(0, 1, threads)).ok());
  std::vector<std::vector<uint64_t>> addresses(threads);
  std::vector<std::vector<uint8_t>> decisions(threads);
  std::vector<trace::ThreadRecord> records;
  for (uint32_t t = 0; t < threads; ++t) {
    addresses[t].assign(scripts[t].accesses, 0x1000 + 4 * t);
    if (scripts[t].decision.has_value()) decisions[t].push_back(*scripts[t].decision);
    records.push_back({decisions[t], addresses[t]});
  }
  EXPECT_TRUE((*writer)->AddBlock(0, records, trace::TraceWriter::kNoExpectation).ok());
  EXPECT_TRUE((*writer)->EndLaunch().ok());
  EXPECT_TRUE((*writer)->Finish().ok());
  const auto reader = trace::TraceReader::Open(file.path());
  EXPECT_TRUE(reader.ok()) << reader.status();

  SortedIssueLog log;
  ReplayOptions options;
  options.machine = machine;
  options.observer = &log;
  const auto engine = Replay(**reader, {configuration}, options);
  SortedIssueLog reference_log;
  const auto reference = ReplayByReference(**reader, configuration, machine, &reference_log);
  EXPECT_TRUE(engine.ok()) << engine.status();
  EXPECT_TRUE(reference.ok()) << reference.status();
  if (!engine.ok() || !reference.ok()) return {};
  EXPECT_EQ(Difference(log.Sorted(), reference_log.Sorted()), "");
  EXPECT_EQ(Difference((*engine)[0].launch(0), reference->launches.at(0)), "");
  Outcome run;
  for (const IssueEntry& issue : log.Sorted()) {
    absl::StrAppend(&run.issues, run.issues.empty() ? "" : " ", issue.cycle, ":", issue.lanes[0].pc);
    if (threads > 4) absl::StrAppend(&run.issues, "@", issue.lanes[0].thread);
  }
  run.launch = (*engine)[0].launch(0);
  return run;
}

// Threads that all do the same.
Outcome RunBoth(const v1::KernelProgram& program, const machine::v1::Machine& machine, uint32_t threads = 4,
                size_t accesses = 0) {
  return RunBoth(program, machine, threads,
                 std::vector<Script>(threads, {.decision = std::nullopt, .accesses = accesses}));
}

// ProgramBuilder's instructions read what the one before them wrote: a scoreboard would hold each of them.
TEST(ControlBits, NobodyLooksAtRegisters) {
  const v1::KernelProgram program = WithBits(ProgramBuilder("adds").Alu(3).Exit().Build(), {});
  EXPECT_EQ(RunBoth(program, SmallMachine()).issues, "2:0 3:1 4:2 5:3");
  machine::v1::Machine machine = SmallMachine();
  machine.mutable_core()->set_dependences(Core::SCOREBOARD);
  EXPECT_EQ(RunBoth(program, machine).issues, "2:0 6:1 10:2 11:3");
}

TEST(ControlBits, AWarpWaitsForTheBarriersOfItsMask) {
  const v1::KernelProgram program =
      WithBits(ProgramBuilder("load").Load().Alu(2).Exit().Build(),
               {{.stall = 1, .write_barrier = 3}, {.stall = 1}, {.stall = 1, .wait_mask = 1 << 3}});
  // The data are there in 22; the add between does not wait.
  const Outcome run = RunBoth(program, SmallMachine(), 4, 1);
  EXPECT_EQ(run.issues, "2:0 3:1 22:2 23:3");
  EXPECT_EQ(run.launch.stalls().data_memory(), 18);
  EXPECT_EQ(run.launch.stalls().data_waw(), 0);
}

TEST(ControlBits, ABarrierCountsWhoRaisesIt) {
  const v1::KernelProgram program =
      WithBits(ProgramBuilder("loads").Load().Load().Alu().Exit().Build(),
               {{.stall = 4, .write_barrier = 0}, {.stall = 1, .write_barrier = 0}, {.stall = 1, .wait_mask = 1}});
  // Data in 22 and, of the load in 6, in 26: the barrier is down with the later one.
  EXPECT_EQ(RunBoth(program, SmallMachine(), 4, 2).issues, "2:0 6:1 26:2 27:3");
}

TEST(ControlBits, AReadBarrierIsLoweredWhenOperandsAreRead) {
  const v1::KernelProgram program = WithBits(ProgramBuilder("store").Store().Alu().Exit().Build(),
                                             {{.stall = 1, .read_barrier = 1}, {.stall = 1, .wait_mask = 1 << 1}});
  const Outcome run = RunBoth(program, SmallMachine(), 4, 1);
  EXPECT_EQ(run.issues, "2:0 8:1 9:2");
  // It waits to overwrite, not for a result.
  EXPECT_EQ(run.launch.stalls().data_arithmetic(), 5);
  EXPECT_EQ(run.launch.stalls().data_waw(), 5);
}

TEST(ControlBits, MemoryReadsItsOperandsInItsIssueLatencyUnlessAMachineSaysMore) {
  machine::v1::Machine machine = SmallMachine();
  machine.mutable_core()->mutable_units()->clear_memory_operand_read_cycles();
  machine.mutable_core()->mutable_units()->set_memory_issue_latency(3);
  const v1::KernelProgram program = WithBits(ProgramBuilder("store").Store().Alu().Exit().Build(),
                                             {{.stall = 1, .read_barrier = 1}, {.stall = 1, .wait_mask = 1 << 1}});
  EXPECT_EQ(RunBoth(program, machine, 4, 1).issues, "2:0 5:1 6:2");
}

TEST(ControlBits, ArithmeticOfUnknownLatencyRaisesBarriers) {
  const v1::KernelProgram program = WithBits(ProgramBuilder("sfu").Op(v1::OP_SFU).Alu(2).Exit().Build(),
                                             {{.stall = 2, .write_barrier = 5, .read_barrier = 4},
                                              {.stall = 1, .wait_mask = 1 << 4},
                                              {.stall = 1, .wait_mask = 1 << 5}});
  // Operands are read in 3, the result is written in 12.
  EXPECT_EQ(RunBoth(program, SmallMachine()).issues, "2:0 4:1 12:2 13:3");
}

TEST(ControlBits, AnInstructionWithoutResultLowersItsBarrierAllTheSame) {
  v1::KernelProgram program = WithBits(ProgramBuilder("none").Alu(2).Exit().Build(),
                                       {{.stall = 1, .write_barrier = 2}, {.stall = 1, .wait_mask = 1 << 2}});
  program.mutable_instruction(0)->clear_dst();
  EXPECT_EQ(RunBoth(program, SmallMachine()).issues, "2:0 6:1 7:2");
}

TEST(ControlBits, ABarrierThatNobodyRaisesIsDown) {
  const v1::KernelProgram program =
      WithBits(ProgramBuilder("free").Alu(2).Exit().Build(),
               {{.stall = 1, .wait_mask = 0b111111}, {.stall = 1, .wait_mask = 0b111111}});
  EXPECT_EQ(RunBoth(program, SmallMachine()).issues, "2:0 3:1 4:2");
}

TEST(ControlBits, AYieldLeavesTheNextCycleToOthers) {
  const v1::KernelProgram program = WithBits(ProgramBuilder("yield").Alu(3).Exit().Build(),
                                             {{.stall = 1, .yield = true}, {.stall = 3, .yield = true}});
  EXPECT_EQ(RunBoth(program, SmallMachine()).issues, "2:0 4:1 7:2 8:3");
}

TEST(ControlBits, BarriersAreOfAWarp) {
  const v1::KernelProgram program = WithBits(ProgramBuilder("warps").Load().Alu().Exit().Build(),
                                             {{.stall = 1, .write_barrier = 0}, {.stall = 1, .wait_mask = 1}});
  // Fetches: slot 0 in 0, slot 1 in 1. Loads in 2 and 3, data in 22 and 23.
  EXPECT_EQ(RunBoth(program, SmallMachine(), 8, 1).issues, "2:0@0 3:0@4 22:1@0 23:1@4 24:2@0 25:2@4");
}

// 63 loads in 2 to 64; the last but two would be counted as number 64, and waits for the first of them.
TEST(ControlBits, ABarrierCountsTo63) {
  machine::v1::Machine machine = SmallMachine();
  machine.mutable_memory()->mutable_fixed()->set_global_cycles(100);
  ProgramBuilder builder("many");
  for (int i = 0; i < 64; ++i) builder.Load();
  const v1::KernelProgram program =
      WithBits(builder.Alu().Exit().Build(), std::vector<ControlBits>(64, {.stall = 1, .write_barrier = 0}));
  const Outcome run = RunBoth(program, machine, 4, 64);
  EXPECT_THAT(run.issues, HasSubstr(" 63:61 64:62 102:63 103:64 104:65"));
}

// Both sides of a branch are of one warp of the hardware: who waits on one side waits for what the other has raised.
TEST(ControlBits, SidesOfABranchShareTheBarriersOfTheirWarp) {
  v1::KernelProgram program = ProgramBuilder("sides")
                                  .Block("head")
                                  .Alu()                   // 0
                                  .Branch("wait", "load")  // 1
                                  .Block("wait")
                                  .Alu(2)  // 2, 3
                                  .Exit()  // 4
                                  .Block("load")
                                  .Load()  // 5
                                  .Exit()  // 6
                                  .Build();
  program = WithBits(std::move(program), {{.stall = 1},
                                          {.stall = 1},
                                          {.stall = 5},
                                          {.stall = 1, .wait_mask = 1},
                                          {.stall = 1},
                                          {.stall = 1, .write_barrier = 0}});
  Configuration configuration;
  configuration.divergence = {"nrec", ""};
  // The branch resolves in 7, with its fall-through in the buffer. The other side is fetched for, and issues in 9. Its
  // load has its data in 29.
  EXPECT_EQ(RunBoth(program, SmallMachine(), 4, {{0}, {0}, {1, 1}, {1, 1}}, configuration).issues,
            "2:0 3:1 7:2 9:5 10:6 29:3 30:4");
}

// Loads in 2 and 3, data in 22 and 23. Then each side has threads of both warps: it waits for both of their barriers.
TEST(ControlBits, AWarpOfThreadsOfSeveralWaitsForTheBarriersOfAll) {
  v1::KernelProgram program = ProgramBuilder("regrouped")
                                  .Block("head")
                                  .Load()                   // 0
                                  .Branch("left", "right")  // 1
                                  .Block("left")
                                  .Alu()   // 2
                                  .Exit()  // 3
                                  .Block("right")
                                  .Alu()   // 4
                                  .Exit()  // 5
                                  .Build();
  program = WithBits(std::move(program), {{.stall = 1, .write_barrier = 0},
                                          {.stall = 1},
                                          {.stall = 1, .wait_mask = 1},
                                          {.stall = 1},
                                          {.stall = 1, .wait_mask = 1}});
  Configuration configuration;
  configuration.divergence = {"tbc", ""};
  const Script left = {0, 1};
  const Script right = {1, 1};
  EXPECT_EQ(
      RunBoth(program, SmallMachine(), 8, {left, left, right, right, right, right, left, left}, configuration).issues,
      "2:0@0 3:0@4 4:1@0 5:1@4 23:4@4 24:5@4 31:2@0 32:3@0");
}

// The add in front of the place where both sides meet stalls for 15 cycles: so does the warp that is formed there.
TEST(ControlBits, AThreadTakesItsPauseIntoAnotherWarp) {
  v1::KernelProgram program = ProgramBuilder("paused")
                                  .Block("head")
                                  .Alu()                   // 0
                                  .Branch("side", "meet")  // 1
                                  .Block("side")
                                  .Alu()  // 2
                                  .Jump("meet")
                                  .Block("meet")
                                  .Alu()   // 3
                                  .Exit()  // 4
                                  .Build();
  program = WithBits(std::move(program), {{.stall = 1}, {.stall = 1}, {.stall = 15}});
  // The side issues in 7, and pauses until 22.
  EXPECT_EQ(RunBoth(program, SmallMachine(), 4, {{0}, {0}, {1}, {1}}).issues, "2:0 3:1 7:2 22:3 23:4");
}

TEST(ControlBits, CodeWithoutThemIsRefusedInOneLine) {
  const auto refusal = [](const v1::KernelProgram& program) {
    const trace::testing::TemporaryFile file("control_bits");
    auto writer = trace::TraceWriter::Create(file.path(), trace::testing::MakeHeader(), {});
    EXPECT_TRUE((*writer)->AddProgram(program).ok());
    EXPECT_TRUE((*writer)->BeginLaunch(trace::testing::MakeLaunch(0, 1, 4)).ok());
    EXPECT_TRUE((*writer)->AddBlock(0, std::vector<trace::ThreadRecord>(4), trace::TraceWriter::kNoExpectation).ok());
    EXPECT_TRUE((*writer)->EndLaunch().ok());
    EXPECT_TRUE((*writer)->Finish().ok());
    const auto reader = trace::TraceReader::Open(file.path());
    ReplayOptions options;
    options.machine = SmallMachine();
    const auto outcome = Replay(**reader, {Configuration()}, options);
    return outcome.ok() ? "" : std::string(outcome.status().message());
  };
  const v1::KernelProgram ptx = ProgramBuilder("ptx").Alu(2).Exit().Build();
  EXPECT_THAT(refusal(ptx), HasSubstr("issue by control bits, and"));
  EXPECT_THAT(refusal(ptx), HasSubstr("--set core.dependences=SCOREBOARD"));
  v1::KernelProgram lacks_one = WithBits(ptx, {});
  EXPECT_EQ(refusal(lacks_one), "");
  lacks_one.mutable_instruction(1)->clear_control();
  EXPECT_THAT(refusal(lacks_one), HasSubstr("PC 8"));
  lacks_one.mutable_instruction(1)->set_mnemonic("nop.join");
  EXPECT_EQ(refusal(lacks_one), "");
}

// ------------------------------------------------------------------------------------------ registers

// Instructions that read general registers and write none, with these marks for reuse.
struct Reads {
  std::vector<uint32_t> registers;
  uint8_t reuse = 0;
};

v1::KernelProgram Reading(const std::vector<Reads>& reads) {
  std::vector<ControlBits> bits;
  for (const Reads& one : reads) bits.push_back({.stall = 1, .reuse = one.reuse});
  v1::KernelProgram program =
      WithBits(ProgramBuilder("reads").Alu(static_cast<int>(reads.size())).Exit().Build(), bits);
  uint32_t last = 0;
  for (const Reads& one : reads) last = std::max(last, *std::ranges::max_element(one.registers));
  v1::Function& function = *program.mutable_function(0);
  for (uint32_t number = 0; number <= last; ++number) {
    function.mutable_register_file()->push_back(static_cast<char>(v1::FILE_GENERAL));
    function.mutable_register_number()->push_back(static_cast<char>(number));
  }
  for (size_t i = 0; i < reads.size(); ++i) {
    v1::Instruction& instruction = *program.mutable_instruction(static_cast<int>(i));
    instruction.clear_src();
    instruction.clear_dst();
    for (const uint32_t number : reads[i].registers) instruction.add_src(number + 1);
  }
  return program;
}

machine::v1::Machine WithRegisterFile(uint32_t read_cycles, bool cache) {
  machine::v1::Machine machine = SmallMachine();
  machine::v1::RegisterFile& file = *machine.mutable_core()->mutable_register_file();
  file.set_banks(2);
  file.set_read_cycles(read_cycles);
  file.set_cache(cache);
  return machine;
}

// Huerta et al. (MICRO 2025, section 5.3) measured two FFMA, the second of which reads none, one or two registers more
// of the bank from which the first reads all of its three: no, one and two cycles of bubbles.
TEST(RegisterFile, BubblesAreThoseOfThePaper) {
  const auto issues = [](uint32_t x, uint32_t y) {
    return RunBoth(Reading({{{10, 12, 14}}, {{16, x, y}}}), WithRegisterFile(3, false)).issues;
  };
  EXPECT_EQ(issues(19, 21), "2:0 3:1 4:2");
  EXPECT_EQ(issues(18, 21), "2:0 3:1 5:2");
  EXPECT_EQ(issues(18, 20), "2:0 3:1 6:2");
}

TEST(RegisterFile, WhatIsMarkedIsNotReadAgainInItsPlace) {
  // R2 is kept by the first, found and not kept by the second, and read again by the third, beside R6 of its bank.
  const v1::KernelProgram program = Reading({{{2, 7}, 0b001}, {{2, 4}}, {{2, 6}}});
  EXPECT_EQ(RunBoth(program, WithRegisterFile(1, true)).issues, "2:0 3:1 4:2 6:3");
  EXPECT_EQ(RunBoth(program, WithRegisterFile(1, false)).issues, "2:0 3:1 5:2 7:3");
}

TEST(RegisterFile, InstructionsOfUnknownLatencyReadLater) {
  v1::KernelProgram program = Reading({{{10, 12, 14}}, {{16, 18, 20}}});
  program.mutable_instruction(0)->set_control(trace::PackControl({.stall = 1, .write_barrier = 0}));
  EXPECT_EQ(RunBoth(program, WithRegisterFile(3, false)).issues, "2:0 3:1 4:2");
}

}  // namespace
}  // namespace heddle::replay
