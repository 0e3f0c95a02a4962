// Machine code that tests write, lowered: what becomes of it, and what is refused. No toolkit is needed.
#include "tracegen/program/machine_source/lower_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/tracegen/program/machine_source/walk_code.h"
#include "traces/format/program/control_bits.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using ::testing::HasSubstr;

TEST(LowerMachine, TheStaticProgramIsTheCode) {
  const Code code({"S2R R0, SR_TID.X", "ISETP.GE.AND P0, PT, R0, 0x20, PT", "MOV R2, c[0x0][0x160]",
                   "MOV R3, c[0x0][0x164]", "@!P0 STG.E.64 [R2.64], R4", "@!P0 STG.E [R2.64+0x8], R0", "@P0 EXIT",
                   "STS [R0.X4], RZ", "EXIT"});
  const absl::StatusOr<CanonicalModule> lowered = code.Lower();
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const absl::StatusOr<KernelUnit> unit = ReadKernel(*lowered, "walk");
  ASSERT_TRUE(unit.ok()) << unit.status();
  const v1::KernelProgram& program = unit->program;
  EXPECT_EQ(program.level(), v1::LEVEL_MACHINE);
  EXPECT_EQ(program.target(), "sm_80");
  EXPECT_EQ(program.static_shared_bytes(), 64u);
  EXPECT_EQ(program.register_count(), 21u);
  std::vector<std::string> texts;
  for (const v1::Instruction& instruction : program.instruction()) texts.push_back(instruction.mnemonic());
  // Two stores under one guard share a block; a decision behind a guard needs an instruction of its own.
  EXPECT_THAT(texts, ::testing::UnorderedElementsAre("S2R", "ISETP.GE.AND", "MOV", "MOV", "STG.E.64", "STG.E",
                                                     "nop.join", "EXIT", "STS", "EXIT"));
  int decisions = 0;
  for (const v1::BasicBlock& block : program.block()) decisions += block.terminator() == v1::BRANCH_CONDITIONAL;
  EXPECT_EQ(decisions, 2);
}

// Threads that leave out a store behind a barrier end at the same place as those that make it.
TEST(LowerMachine, TheStaticProgramHasTheEndsThatTheCodeHas) {
  const Code code(
      {"ISETP.GE.AND P0, PT, R0, 0x20, PT", "BAR.SYNC.DEFER_BLOCKING 0x0", "@P0 STG.E [R2.64], R0", "EXIT"});
  const absl::StatusOr<CanonicalModule> lowered = code.Lower();
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const absl::StatusOr<KernelUnit> unit = ReadKernel(*lowered, "walk");
  ASSERT_TRUE(unit.ok()) << unit.status();
  int ends = 0;
  for (const v1::Instruction& instruction : unit->program.instruction()) ends += instruction.mnemonic() == "EXIT";
  EXPECT_EQ(ends, 1);
}

TEST(LowerMachine, TheStaticProgramHasRegistersAndControlBits) {
  Code code({"S2R R7, SR_TID.X", "R2UR UR5, R7", "@P3 IADD3 R7, R7, UR5, RZ", "STG.E.64 [R2.64], R4", "EXIT"});
  code.cubin.assembler = "ptxas, of a test";
  // Of the first instruction: stalls for 9 cycles, yields, sets barrier 2, waits for barriers 0 and 5, keeps operand 1.
  code.cubin.sections[0].code[0][1] = uint64_t{9 | 0 << 4 | 2 << 5 | 7 << 8 | 0x21 << 11 | 2 << 17} << 41;
  const absl::StatusOr<CanonicalModule> lowered = code.Lower();
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const absl::StatusOr<KernelUnit> unit = ReadKernel(*lowered, "walk");
  ASSERT_TRUE(unit.ok()) << unit.status();
  const v1::KernelProgram& program = unit->program;
  EXPECT_EQ(program.producer(), "ptxas, of a test");
  EXPECT_EQ(program.isa_version(), "8.0");
  const v1::Function& function = program.function(0);
  ASSERT_EQ(function.register_file().size(), function.register_bits().size());
  ASSERT_EQ(function.register_number().size(), function.register_bits().size());
  std::vector<std::string> named;  // registers of each instruction, results first
  for (const v1::Instruction& instruction : program.instruction()) {
    std::string& text = named.emplace_back(instruction.mnemonic());
    const auto add = [&](uint32_t number) {
      static const char* const kFiles[] = {"R", "P", "UR", "UP", "B"};
      absl::StrAppend(&text, " ", kFiles[static_cast<uint8_t>(function.register_file()[number - 1])],
                      static_cast<int>(function.register_number()[number - 1]));
    };
    for (const uint32_t number : instruction.dst()) add(number);
    for (const uint32_t number : instruction.src()) add(number);
  }
  // What the guard leaves is read, too.
  EXPECT_THAT(named,
              ::testing::ElementsAre("S2R R7", "R2UR UR5 R7", "IADD3 R7 P3 R7 UR5 R7", "STG.E.64 R2 R3 R4 R5", "EXIT"));
  EXPECT_EQ(program.instruction(3).space(), v1::SPACE_GLOBAL);
  EXPECT_EQ(program.instruction(3).access_bytes(), 8u);
  EXPECT_EQ(program.instruction(2).flags() & v1::FLAG_GUARDED, unsigned{v1::FLAG_GUARDED});
  EXPECT_EQ(trace::UnpackControl(program.instruction(0).control()),
            (trace::ControlBits{
                .stall = 9, .yield = true, .write_barrier = 2, .read_barrier = 7, .wait_mask = 0x21, .reuse = 2}));
  EXPECT_EQ(trace::UnpackControl(program.instruction(1).control()), (trace::ControlBits{.stall = 1}));
}

TEST(LowerMachine, TheStaticProgramHasConvergenceBarriers) {
  const Code code({"ISETP.GE.AND P0, PT, R0, 0x20, PT", "BSSY B3, 0x50", "@P0 BRA 0x40", "BREAK B3", "BSYNC B3",
                   "WARPSYNC 0xf", "YIELD", "EXIT"});
  const absl::StatusOr<CanonicalModule> lowered = code.Lower();
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const absl::StatusOr<KernelUnit> unit = ReadKernel(*lowered, "walk");
  ASSERT_TRUE(unit.ok()) << unit.status();
  const v1::KernelProgram& program = unit->program;
  EXPECT_TRUE(program.uses_warp_operations());
  std::vector<v1::Convergence::Role> roles;
  for (const v1::Instruction& instruction : program.instruction()) {
    EXPECT_EQ(instruction.has_convergence(), instruction.op() == v1::OP_CONVERGENCE) << instruction.mnemonic();
    if (!instruction.has_convergence()) continue;
    const v1::Convergence& convergence = instruction.convergence();
    roles.push_back(convergence.role());
    const bool names = convergence.role() <= v1::Convergence::BREAK;
    EXPECT_EQ(convergence.barrier(), names ? 3u : 0u);
    EXPECT_EQ(instruction.members(), convergence.role() == v1::Convergence::WARP_SYNC ? 0xfu : 0u);
    if (convergence.role() != v1::Convergence::SET) {
      EXPECT_EQ(convergence.block(), 0u);
      continue;
    }
    ASSERT_NE(convergence.block(), 0u);
    const v1::BasicBlock& block = program.block(static_cast<int>(convergence.block()) - 1);
    EXPECT_EQ(program.instruction(static_cast<int>(block.first_instruction())).mnemonic(), "WARPSYNC");
  }
  EXPECT_THAT(roles,
              ::testing::UnorderedElementsAre(v1::Convergence::SET, v1::Convergence::BREAK, v1::Convergence::SYNC,
                                              v1::Convergence::WARP_SYNC, v1::Convergence::YIELD));
}

// Whether threads leave a barrier is a decision, though it does nothing to a thread.
TEST(LowerMachine, AConditionalBreakIsABlockOfItsOwn) {
  for (const char* text : {"@P0 BREAK B3", "BREAK B3, P0"}) {
    const Code code({"ISETP.GE.AND P0, PT, R0, 0x20, PT", "BSSY B3, 0x50", text, "@P0 BRA 0x50", "BSYNC B3", "EXIT"});
    const absl::StatusOr<CanonicalModule> lowered = code.Lower();
    ASSERT_TRUE(lowered.ok()) << lowered.status();
    const absl::StatusOr<KernelUnit> unit = ReadKernel(*lowered, "walk");
    ASSERT_TRUE(unit.ok()) << unit.status();
    const absl::StatusOr<trace::Program> program = trace::Program::Create(unit->program);
    ASSERT_TRUE(program.ok()) << program.status();
    ASSERT_EQ(program->guard_count(), 1u) << text;
    for (const trace::Block& block : program->blocks()) {
      if (!program->DecidesGuard(block)) continue;
      EXPECT_EQ(program->block(block.successor).count, 1u);
      EXPECT_EQ(program->instruction(program->block(block.successor).first).convergence().role(),
                v1::Convergence::BREAK);
      EXPECT_EQ(program->block(block.successor).successor, block.taken);
    }
  }
}

TEST(LowerMachine, ConvergenceBarriersSayWhereToGoOn) {
  const std::string ir = Code({"ISETP.GE.AND P0, PT, R0, RZ, PT", "@P0 BRA 0x40", "BSSY B0, 0x60", "BRA 0x50",
                               "BSSY B0, 0x70", "BSYNC B0", "EXIT", "EXIT"})
                             .Ir();
  EXPECT_THAT(ir, HasSubstr("i32 96, label"));
  EXPECT_THAT(ir, HasSubstr("i32 112, label"));
}

TEST(LowerMachine, APredicateOfItsOwnDecidesOnAnEnd) {
  const absl::StatusOr<CanonicalModule> lowered = Code({"EXIT !P0", "STS [RZ], R0", "EXIT"}).Lower();
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const absl::StatusOr<KernelUnit> unit = ReadKernel(*lowered, "walk");
  ASSERT_TRUE(unit.ok()) << unit.status();
  EXPECT_EQ(unit->program.block(0).terminator(), v1::BRANCH_CONDITIONAL);
  EXPECT_EQ(unit->program.block_size(), 3);
  // With a guard before it both decide.
  const Code both({"@P1 EXIT !P0", "STS [RZ], R0", "EXIT"});
  const absl::StatusOr<CanonicalModule> guarded = both.Lower();
  ASSERT_TRUE(guarded.ok()) << guarded.status();
  EXPECT_EQ(ReadKernel(*guarded, "walk")->program.block(0).terminator(), v1::BRANCH_CONDITIONAL);
  EXPECT_THAT(both.Ir(), HasSubstr("and i1"));
}

TEST(LowerMachine, ParametersShareWordsOfTheBank) {
  const std::string ir =
      Code({"MOV R0, c[0x0][0x168]", "MOV R2, c[0x4][0x0]", "MOV R3, c[0x4][0x4]", "STG.E [R2.64], R0", "EXIT"}).Ir();
  EXPECT_THAT(ir, HasSubstr("i16 %small"));
  EXPECT_THAT(ir, HasSubstr("i16 %other"));
  EXPECT_THAT(ir, HasSubstr("@counter"));
}

// The assembler's own functions do: a quotient of two parameters.
TEST(LowerMachine, FunctionsReadTheKernelsParameters) {
  Code code({"CALL.REL.NOINC helper", "STS [RZ], R0", "EXIT", "MOV R0, c[0x0][0x168]", "RET.REL.NODEC R2, walk"});
  code.cubin.sections[0].functions.push_back({"helper", 0x30, 0x20, false});
  const std::string ir = code.Ir();
  EXPECT_THAT(ir, HasSubstr("i16 %small"));
  EXPECT_THAT(ir, HasSubstr("@helper(i64 0, i32 %"));
}

// Where the code asks whether threads are together, the runtime answers: of a mask, and without those whose guard is
// false.
TEST(LowerMachine, BranchesAskWhetherThreadsAreTogether) {
  EXPECT_THAT(Code({"BRA.CONV 0x20", "NOP", "EXIT"}).Ir(),
              HasSubstr("@heddle.device.together.diverged(i32 -1, i32 1)"));
  EXPECT_THAT(Code({"UMOV UR4, 0xff", "BRA.DIV UR4, 0x30", "NOP", "EXIT"}).Ir(),
              HasSubstr("@heddle.device.together.diverged(i32 255, i32 1)"));
  EXPECT_THAT(Code({"ISETP.EQ.AND P0, PT, RZ, RZ, PT", "@!P0 BRA.DIV ~URZ, 0x30", "NOP", "EXIT"}).Ir(),
              HasSubstr("@heddle.device.together.diverged(i32 -1, i32 %"));
  EXPECT_THAT(Code({"UMOV UR4, 0x3", "MOV R0, UR4", "R2UR P1, UR5, R0", "@!P1 BRA.DIV UR5, 0x50", "NOP", "EXIT"}).Ir(),
              HasSubstr("@heddle.device.together.differs(i32 3)"));
  EXPECT_THAT(Code({"@P0 R2UR P1, UR5, R0", "@!P1 BRA.DIV UR5, 0x30", "NOP", "EXIT"}).Refusal(),
              HasSubstr("the predicate of R2UR under a guard"));
}

// Who is together matters to threads only where an instruction asks.
TEST(LowerMachine, ThreadsWaitAtConvergenceBarriersIfSomethingDependsOnIt) {
  const std::vector<std::string> asks = {"BSSY B0, 0x50", "@P0 BRA 0x40", "@P1 BREAK B0", "VOTE.ANY R0, PT, P0",
                                         "BSYNC B0",      "STS [RZ], R0", "EXIT"};
  const std::string ir = Code(asks).Ir();
  EXPECT_THAT(ir, HasSubstr("= call i32 @heddle.device.convergence.join()"));
  EXPECT_THAT(ir, HasSubstr("call void @heddle.device.convergence.leave(i32 %"));
  EXPECT_THAT(ir, HasSubstr("call void @heddle.device.together.meet(i32 %"));
  std::vector<std::string> computes = asks;
  computes[3] = "MOV R0, 0x1";
  EXPECT_THAT(Code(computes).Ir(), Not(HasSubstr("heddle.device")));
}

// The kernel asks, so threads wait at the barriers of what it calls, too; and the other way round.
TEST(LowerMachine, WhatAKernelCallsIsTogetherAsItIs) {
  Code code(
      {"CALL.REL.NOINC helper", "VOTE.ANY R0, PT, P0", "EXIT", "BSSY B0, 0x50", "BSYNC B0", "RET.REL.NODEC R2, walk"});
  code.cubin.sections[0].functions.push_back({"helper", 0x30, 0x30, false});
  EXPECT_THAT(code.Ir(), HasSubstr("@heddle.device.together.meet"));
  Code callee(
      {"BSSY B0, 0x20", "BSYNC B0", "CALL.REL.NOINC helper", "EXIT", "VOTE.ANY R0, PT, P0", "RET.REL.NODEC R2, walk"});
  callee.cubin.sections[0].functions.push_back({"helper", 0x40, 0x20, false});
  EXPECT_THAT(callee.Ir(), HasSubstr("@heddle.device.together.meet"));
}

TEST(LowerMachine, SignsOfConstantsArePredicates) {
  EXPECT_THAT(
      Code({"PLOP3.LUT P0, PT, c[0x0][0x168].SIGN, PT, PT, 0x80, 0x0", "SEL R0, RZ, 0x1, P0", "STS [RZ], R0", "EXIT"})
          .Ir(),
      HasSubstr("icmp slt i32"));
}

TEST(LowerMachine, NumbersThatAreNoneComeFromTheEncoding) {
  Code code({"FSEL R0, RZ, +QNAN, P0", "STS [RZ], R0", "EXIT"});
  code.cubin.sections[0].code[0][0] = uint64_t{0x7fabcdef} << 32;
  EXPECT_THAT(code.Ir(), HasSubstr("2141965807"));
}

TEST(LowerMachine, WhatIsNotKnownIsRefusedWithItsPlace) {
  EXPECT_EQ(Code({"NOP", "PREEXIT", "EXIT"}).Refusal(),
            "walk.ptx: walk+0x10: a machine instruction without a meaning yet: PREEXIT");
  EXPECT_EQ(Code({"ARRIVES.LDGSTSBAR.64 [R4]", "EXIT"}).Refusal(),
            "walk.ptx: walk+0x0: cannot be executed yet: what this does to a transaction barrier: "
            "ARRIVES.LDGSTSBAR.64 [R4]");
  EXPECT_EQ(Code({"IMMA.8816.S8.S8 R4, R8.COL, R12.COL, R4", "EXIT"}).Refusal(),
            "walk.ptx: walk+0x0: cannot be executed yet: how the registers of a matrix are read: IMMA.8816.S8.S8 R4, "
            "R8.COL, R12.COL, R4");
  EXPECT_EQ(Code({"MOV R0, c[0x0][0x50]", "EXIT"}).Refusal(),
            "walk.ptx: walk+0x0: cannot be executed yet: this place of a constant bank: MOV R0, c[0x0][0x50]");
  EXPECT_THAT(Code({"MOV R0, c[0x1f][-0x4]", "EXIT"}).Refusal(), HasSubstr("this place of a constant bank"));
  EXPECT_THAT(Code({"MOV R0, c[0x4][0x8]", "EXIT"}).Refusal(), HasSubstr("this place of a constant bank"));
  EXPECT_THAT(Code({"LDC R0, c[0x5][R2]", "EXIT"}).Refusal(), HasSubstr("this place of a constant bank"));
  EXPECT_THAT(Code({"S2R R0, SR_AFFINITY", "EXIT"}).Refusal(), HasSubstr("this special register"));
  EXPECT_THAT(Code({"BAR.SYNC R4, R5", "EXIT"}).Refusal(), HasSubstr("two registers"));
  EXPECT_THAT(Code({"ATOM.E.EXCH.STRONG.GPU P0, RZ, [R2.64], R0", "EXIT"}).Refusal(),
              HasSubstr("predicate of its own"));
}

constexpr uint64_t kRaisesBarrier2 = uint64_t{1 | 1 << 4 | 2 << 5 | 7 << 8} << 41;  // control bits

TEST(LowerMachine, MatricesAreThoseOfPtx) {
  const Code code({"@P1 HMMA.16816.F32.BF16 R4, R8.reuse, R8, RZ", "DMMA.884 R4, R8, R12, R16",
                   "LDSM.16.MT88.2 R4, [R7+0x40]", "MOVM.16.MT88 R5, R6", "EXIT"});
  const absl::StatusOr<CanonicalModule> lowered = code.Lower();
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const std::string ir = code.Ir();
  for (const char* function :
       {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", "movmatrix.sync.aligned.m8n8.trans.b16"}) {
    EXPECT_THAT(ir, HasSubstr(absl::StrCat("heddle.matrix.", function)));
  }
  const absl::StatusOr<KernelUnit> unit = ReadKernel(*lowered, "walk");
  ASSERT_TRUE(unit.ok()) << unit.status();
  std::vector<v1::Instruction> matrices;
  for (const v1::Instruction& instruction : unit->program.instruction()) {
    if (instruction.has_matrix()) matrices.push_back(instruction);
  }
  ASSERT_EQ(matrices.size(), 4u);
  const v1::Function& function = unit->program.function(0);
  const auto named = [&](const v1::Instruction& instruction) {
    std::string text;
    for (const uint32_t number : instruction.src()) {
      const bool is_predicate = function.register_file()[number - 1] == v1::FILE_PREDICATE;
      absl::StrAppend(&text, is_predicate ? "P" : "R", static_cast<int>(function.register_number()[number - 1]), " ");
    }
    return text;
  };
  // Registers of A, of B, which are some of the same, and no C. Then come the guard and what it leaves.
  EXPECT_EQ(named(matrices[0]), "R8 R9 R10 R11 R8 R9 P1 R4 R5 R6 R7 ");
  EXPECT_EQ(matrices[0].matrix().a_registers(), 4u);
  EXPECT_EQ(matrices[0].matrix().b_registers(), 2u);
  EXPECT_EQ(matrices[0].matrix().c_registers(), 0u);
  EXPECT_EQ(named(matrices[1]), "R8 R9 R12 R13 R16 R17 R18 R19 ");
  EXPECT_EQ(matrices[1].matrix().a_registers(), 2u);
  EXPECT_EQ(matrices[1].matrix().c_registers(), 4u);
  EXPECT_EQ(matrices[2].op(), v1::OP_LOAD);
  EXPECT_EQ(matrices[2].space(), v1::SPACE_SHARED);
  EXPECT_EQ(matrices[2].access_bytes(), 16u);
  EXPECT_EQ(matrices[3].matrix().role(), v1::Matrix::MOVE);
}

// A DEPBAR waits for copies if it names the barrier that LDGDEPBAR raises.
TEST(LowerMachine, WaitsForCopiesNameTheirBarrier) {
  Code code({"LDGSTS.E.128 [R4], [R2.64]", "LDGDEPBAR", "DEPBAR.LE SB1, 0x1", "DEPBAR.LE SB2, 0x1", "EXIT"});
  code.cubin.sections[0].code[1][1] = kRaisesBarrier2;
  const absl::StatusOr<CanonicalModule> lowered = code.Lower();
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const absl::StatusOr<KernelUnit> unit = ReadKernel(*lowered, "walk");
  ASSERT_TRUE(unit.ok()) << unit.status();
  const v1::KernelProgram& program = unit->program;
  ASSERT_EQ(program.instruction_size(), 5);
  EXPECT_EQ(program.instruction(0).async().role(), v1::Async::COPY);
  EXPECT_EQ(program.instruction(1).async().role(), v1::Async::COMMIT);
  EXPECT_EQ(program.instruction(2).op(), v1::OP_FENCE);
  EXPECT_EQ(program.instruction(3).async().role(), v1::Async::WAIT_GROUP);
  EXPECT_EQ(program.instruction(3).async().most_pending(), 1u);
  Code several({"LDGDEPBAR", "DEPBAR.LE SB0, 0x0, {2,1}", "EXIT"});
  several.cubin.sections[0].code[0][1] = kRaisesBarrier2;
  EXPECT_THAT(several.Refusal(), HasSubstr("walk+0x10: how it waits for asynchronous copies is not known yet"));
}

// Where the launch's sizes and addresses lie depends on the architecture.
TEST(LowerMachine, BankZeroIsTheArchitectures) {
  const std::vector<std::string> lines = {"LDC R0, c[0x0][0x218]",          "LDC R4, c[0x0][0x144]",
                                          "LDC.64 R2, c[0x4][0x0]",         "STG.E desc[UR4][R2.64], R0",
                                          "STG.E desc[UR4][R2.64+0x4], R4", "EXIT"};
  Code code(lines);
  code.cubin.architecture = code.disassembly.architecture = machine::Architecture::kSm90;
  code.cubin.sections[0].parameter_offset = 0x210;
  const std::string ir = code.Ir();
  EXPECT_THAT(ir, HasSubstr("i16 %small"));
  EXPECT_THAT(ir, HasSubstr("cluster_nctaid.x"));
  EXPECT_THAT(Code(lines).Refusal(), HasSubstr("this place of a constant bank"));
}

TEST(LowerMachine, OtherTextsAreRefused) {
  EXPECT_THAT(Code({"EXIT"}).Refusal(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry run() { ret; }\n"),
              HasSubstr("no kernel 'walk'"));
}

}  // namespace
}  // namespace heddle::tracegen
