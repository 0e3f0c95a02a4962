// Rules of machine code: registers of the architecture, control bits, convergence barriers.
#include "traces/format/program/machine_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/traces/machine_programs.h"
#include "tests/traces/program_builder.h"
#include "traces/format/limits.h"
#include "traces/format/program/code_level.h"
#include "traces/format/program/control_bits.h"
#include "traces/format/program/operands.h"

namespace heddle::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MachineSample;
using testing::MakeConvergence;
using testing::ProgramBuilder;
using v1::Convergence;

// Instructions of MachineSample.
constexpr int kSet = 2, kYield = 6, kBreak = 10, kSync = 12, kWarpSync = 13, kStore = 14;

TEST(MachineCode, TheSampleIsRight) {
  const auto program = Program::Create(MachineSample());
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(CodeInWords(program->proto()), "machine code by ptxas 13.0 for sm_80");
  EXPECT_EQ(MinorVersionOf(program->proto()), kMachineMinorVersion);
  EXPECT_TRUE(SynchronizesWarp(program->instruction(kWarpSync)));
  EXPECT_FALSE(SynchronizesWarp(program->instruction(kSync)));
}

TEST(MachineCode, OtherProgramsAreOfTheirOldVersion) {
  EXPECT_EQ(MinorVersionOf(ProgramBuilder("plain").Load().Exit().Build()), kUsualMinorVersion);
}

TEST(MachineCode, RandomProgramsAsMachineCodeAreRight) {
  uint32_t syncs = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto program = Program::Create(
        testing::WithMachineCode(testing::RandomProgram(seed, {.barriers = true, .calls = true, .wide = true})));
    ASSERT_TRUE(program.ok()) << seed << ": " << program.status();
    for (const v1::Instruction& instruction : program->proto().instruction()) {
      syncs += instruction.convergence().role() == Convergence::SYNC;
    }
  }
  EXPECT_GT(syncs, 100u);
}

TEST(MachineCode, RegistersHaveTheNamesOfTheArchitecture) {
  v1::Function function;
  EXPECT_EQ(RegisterName(function, 3), "%3");
  for (const auto& [file, number] : {std::pair(v1::FILE_GENERAL, 4),
                                     {v1::FILE_PREDICATE, 0},
                                     {v1::FILE_UNIFORM, 6},
                                     {v1::FILE_UNIFORM_PREDICATE, 1},
                                     {v1::FILE_CONVERGENCE, 15},
                                     {v1::FILE_GENERAL, 254}}) {
    function.mutable_register_file()->push_back(static_cast<char>(file));
    function.mutable_register_number()->push_back(static_cast<char>(number));
  }
  std::vector<std::string> names;
  for (uint32_t number = 1; number <= 6; ++number) names.push_back(RegisterName(function, number));
  EXPECT_THAT(names, ElementsAre("R4", "P0", "UR6", "UP1", "B15", "R254"));
  EXPECT_EQ(RegisterName(function, 0), "%0");
  EXPECT_EQ(RegisterName(function, 7), "%7");
  v1::KernelProgram program;
  *program.add_function() = function;
  *program.add_function() = function;
  program.mutable_function(1)->set_register_number(std::string("\x05\x00\x06\x01\x0f\xfe", 6));
  EXPECT_THAT(RegistersByFile(program), ElementsAre(3, 1, 1, 1, 1));
}

struct Rule {
  const char* name;
  std::function<void(v1::KernelProgram&)> change;
  const char* message;
};

v1::Instruction& At(v1::KernelProgram& program, int pc) { return *program.mutable_instruction(pc); }
Convergence& ConvergenceAt(v1::KernelProgram& program, int pc) { return *At(program, pc).mutable_convergence(); }
std::string& Files(v1::KernelProgram& program) { return *program.mutable_function(0)->mutable_register_file(); }
std::string& Numbers(v1::KernelProgram& program) { return *program.mutable_function(0)->mutable_register_number(); }

// Makes the last register of function 0 this one.
void LastRegister(v1::KernelProgram& program, int file, int number) {
  Files(program).back() = static_cast<char>(file);
  Numbers(program).back() = static_cast<char>(number);
  for (const int pc : {kSet, kBreak, kSync}) {
    At(program, pc).clear_convergence();
    At(program, pc).set_op(v1::OP_MOVE);
  }
}

class MachineRules : public ::testing::TestWithParam<Rule> {};

TEST_P(MachineRules, NameThePlaceAndTheRule) {
  v1::KernelProgram program = MachineSample();
  GetParam().change(program);
  const absl::Status status = Program::Create(program).status();
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, MachineRules,
    ::testing::Values(
        Rule{"files_too_long", [](auto& p) { Files(p).push_back(0); }, "function 0: register_file has "},
        Rule{"numbers_too_short", [](auto& p) { Numbers(p).pop_back(); }, "function 0: register_number has "},
        Rule{"numbers_alone", [](auto& p) { Files(p).clear(); }, "function 0: register_file has 0 registers"},
        Rule{"unknown_file", [](auto& p) { LastRegister(p, 5, 0); }, "is of unknown file 5"},
        Rule{"general", [](auto& p) { LastRegister(p, v1::FILE_GENERAL, 255); }, "is R255, the last one is R254"},
        Rule{"predicate", [](auto& p) { LastRegister(p, v1::FILE_PREDICATE, 7); }, "is P7, the last one is P6"},
        Rule{"uniform", [](auto& p) { LastRegister(p, v1::FILE_UNIFORM, 63); }, "is UR63, the last one is UR62"},
        Rule{"uniform_predicate", [](auto& p) { LastRegister(p, v1::FILE_UNIFORM_PREDICATE, 7); },
             "is UP7, the last one is UP6"},
        Rule{"convergence_register", [](auto& p) { LastRegister(p, v1::FILE_CONVERGENCE, 16); },
             "is B16, the last one is B15"},
        Rule{"twice", [](auto& p) { LastRegister(p, Files(p)[0], Numbers(p)[0]); }, "is listed twice"},
        Rule{"registers_of_ptx", [](auto& p) { p.set_level(v1::LEVEL_PTX_GIVEN); },
             "function 0: only machine code has register_file"},
        Rule{"control_of_ptx",
             [](auto& p) {
               p = ProgramBuilder("x").Alu().Exit().Build();
               At(p, 0).set_control(1);
             },
             "instruction 0: only machine code has control bits"},
        Rule{"class_of_ptx",
             [](auto& p) {
               p = ProgramBuilder("x").Alu().Exit().Build();
               MakeConvergence(At(p, 0), Convergence::YIELD);
             },
             "instruction 0: only machine code has control bits and convergence"},
        Rule{"control_barrier", [](auto& p) { At(p, kStore).set_control(PackControl({.write_barrier = 6})); },
             "instruction 14: control names barrier 6"},
        Rule{"control_bits", [](auto& p) { At(p, kStore).set_control((1u << 21) + 1); },
             "instruction 14: control has more than 21 bits"},
        Rule{"class_alone", [](auto& p) { At(p, kYield).clear_convergence(); }, "instruction 6: class OP_CONVERGENCE"},
        Rule{"field_alone", [](auto& p) { ConvergenceAt(p, kStore).set_role(Convergence::YIELD); },
             "instruction 14: class OP_CONVERGENCE"},
        Rule{"role", [](auto& p) { ConvergenceAt(p, kYield).set_role(Convergence::Role(9)); }, "unknown role 9"},
        Rule{"no_role", [](auto& p) { ConvergenceAt(p, kYield).clear_role(); }, "unknown role 0"},
        Rule{"barrier_of_a_yield", [](auto& p) { ConvergenceAt(p, kYield).set_barrier(1); },
             "only SET, SYNC and BREAK"},
        Rule{"barrier", [](auto& p) { ConvergenceAt(p, kSet).set_barrier(16); }, "is not below 16"},
        Rule{"block_of_a_sync", [](auto& p) { ConvergenceAt(p, kSync).set_block(1); }, "only SET has a block"},
        Rule{"block_of_another_function", [](auto& p) { ConvergenceAt(p, kSet).set_block(1 + 7); },
             "instruction 2: threads meet at block 7"},
        Rule{"block_that_is_not_there", [](auto& p) { ConvergenceAt(p, kSet).set_block(~0u); },
             "threads meet at block"},
        Rule{"barrier_that_is_not_written", [](auto& p) { ConvergenceAt(p, kSet).set_barrier(3); },
             "instruction 2: dst does not have its convergence barrier B3"},
        Rule{"barrier_that_is_not_read", [](auto& p) { ConvergenceAt(p, kBreak).set_barrier(3); },
             "instruction 10: src does not have its convergence barrier B3"},
        Rule{"members_of_a_sync", [](auto& p) { At(p, kSync).set_members(3); }, "several lanes"}),
    [](const auto& info) { return info.param.name; });

// Machine code without lists of registers.
v1::KernelProgram Bare(const ProgramBuilder& builder) {
  v1::KernelProgram program = builder.Build();
  program.set_level(v1::LEVEL_MACHINE);
  return program;
}

std::string MessageOf(const v1::KernelProgram& program) {
  return std::string(Program::Create(program).status().message());
}

TEST(ConvergenceBarriers, AreSetInFrontOfTheSync) {
  v1::KernelProgram program = Bare(ProgramBuilder("x").Alu(2).Exit());
  MakeConvergence(At(program, 0), Convergence::SET, 1);
  MakeConvergence(At(program, 1), Convergence::SYNC, 1);
  EXPECT_EQ(MessageOf(program), "");
  program.mutable_instruction()->SwapElements(0, 1);
  EXPECT_THAT(MessageOf(program), HasSubstr("instruction 0: waits at convergence barrier B1"));
  program.mutable_instruction()->SwapElements(0, 1);
  ConvergenceAt(program, 1).set_barrier(2);
  EXPECT_THAT(MessageOf(program), HasSubstr("instruction 1: waits at convergence barrier B2"));
}

TEST(ConvergenceBarriers, MayBeSetOnOneOfSeveralWaysOrByTheRoundBefore) {
  v1::KernelProgram diamond =
      Bare(ProgramBuilder("x").Block("a").Branch("b", "c").Block("b").Alu().Jump("c").Block("c").Alu().Exit());
  MakeConvergence(At(diamond, 1), Convergence::SET, 0);
  MakeConvergence(At(diamond, 2), Convergence::SYNC, 0);
  EXPECT_EQ(MessageOf(diamond), "");
  v1::KernelProgram loop = Bare(ProgramBuilder("x").Block("a").Alu(2).Branch("b", "a").Block("b").Exit());
  MakeConvergence(At(loop, 0), Convergence::SYNC, 0);
  MakeConvergence(At(loop, 1), Convergence::SET, 0);
  EXPECT_EQ(MessageOf(loop), "");
}

// kernel: 0 SET, call f, 2 SYNC, exit. f: 4, return.
v1::KernelProgram Caller() {
  v1::KernelProgram program = Bare(ProgramBuilder("x")
                                       .Block("a")
                                       .Alu()
                                       .Call("f", "b")
                                       .Block("b")
                                       .Alu()
                                       .Exit()
                                       .Function("f")
                                       .Block("c")
                                       .Alu()
                                       .Return());
  MakeConvergence(At(program, 0), Convergence::SET, 0);
  MakeConvergence(At(program, 2), Convergence::SYNC, 0);
  return program;
}

TEST(ConvergenceBarriers, GoThroughCallsAndReturns) {
  v1::KernelProgram program = Caller();
  MakeConvergence(At(program, 4), Convergence::SYNC, 0);  // of the caller's
  EXPECT_EQ(MessageOf(program), "");
  ConvergenceAt(program, 4).set_barrier(5);
  EXPECT_THAT(MessageOf(program), HasSubstr("instruction 4: waits at convergence barrier B5"));
  program = Caller();
  MakeConvergence(At(program, 0), Convergence::YIELD);
  EXPECT_THAT(MessageOf(program), HasSubstr("instruction 2: waits"));
  MakeConvergence(At(program, 4), Convergence::SET, 0);  // by the callee
  EXPECT_EQ(MessageOf(program), "");
}

TEST(ConvergenceBarriers, MayBeRestored) {
  // A move into B1, and the wait: what a function does that gives its caller's barrier back.
  v1::KernelProgram program = Bare(ProgramBuilder("x").Alu(2).Exit());
  program.mutable_function(0)->set_register_file(std::string{v1::FILE_CONVERGENCE, v1::FILE_GENERAL});
  program.mutable_function(0)->set_register_number(std::string{1, 20});
  MakeConvergence(At(program, 1), Convergence::SYNC, 1);
  EXPECT_EQ(MessageOf(program), "");
  At(program, 0).set_dst(0, 2);
  EXPECT_THAT(MessageOf(program), HasSubstr("instruction 1: waits at convergence barrier B1"));
}

}  // namespace
}  // namespace heddle::trace
