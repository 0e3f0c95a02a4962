// Where threads record what uniform registers of machine code hold.
#include "tracegen/program/machine_source/uniform_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/tracegen/program/machine_source/walk_code.h"
#include "traces/format/program/predication.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using ::testing::HasSubstr;

// Each instruction with what it has of operands: A for its address, U for a uniform register.
std::vector<std::string> WithOperands(const Code& code) {
  const absl::StatusOr<CanonicalModule> lowered = code.Lower();
  EXPECT_TRUE(lowered.ok()) << lowered.status();
  if (!lowered.ok()) return {};
  const absl::StatusOr<KernelUnit> unit = ReadKernel(*lowered, "walk");
  EXPECT_TRUE(unit.ok()) << unit.status();
  std::vector<std::string> texts;
  for (const v1::Instruction& instruction : unit->program.instruction()) {
    std::string& text = texts.emplace_back(instruction.mnemonic());
    if (instruction.operand_size() > 0) text += ' ';
    for (const v1::Operand& operand : instruction.operand()) {
      EXPECT_FALSE(operand.constant());
      text += operand.kind() == v1::Operand::UNIFORM ? 'U' : 'A';
      if (operand.kind() == v1::Operand::ADDRESS) {
        EXPECT_EQ(operand.space(), instruction.space());
        EXPECT_EQ(operand.bytes(), instruction.access_bytes());
      }
    }
  }
  return texts;
}

// A loop's counter and what depends on the block differ between threads, constants do not.
TEST(UniformValues, UniformRegistersThatMayDifferAreRecordedWhereThreadsReadThem) {
  EXPECT_THAT(WithOperands(Code({"ULDC.64 UR4, c[0x0][0x118]", "S2UR UR6, SR_CTAID.X", "UMOV UR7, URZ",
                                 "S2R R0, SR_TID.X", "IADD3 R1, R0, UR7, RZ", "IMAD R2, R0, UR6, R1",
                                 "UIADD3 UR7, UR7, 0x1, URZ", "ISETP.GE.AND P0, PT, R0, UR7, PT", "@!P0 BRA 0x40",
                                 "STG.E [R2.64+UR4], R0", "STS [R0+UR7], RZ", "EXIT"})),
              ::testing::ElementsAre("ULDC.64", "S2UR", "UMOV", "S2R", "IADD3 U", "IMAD U", "UIADD3", "ISETP.GE.AND U",
                                     "BRA", "STG.E", "STS AU", "EXIT"));
}

// Both ways set UR4 to the parameter, and UR5 to numbers that differ.
TEST(UniformValues, TheSameValueOnEveryWayIsNotRecorded) {
  EXPECT_THAT(WithOperands(Code({"ISETP.GE.AND P0, PT, R0, 0x20, PT", "@P0 BRA 0x50", "ULDC UR4, c[0x0][0x164]",
                                 "UMOV UR5, 0x1", "BRA 0x70", "ULDC UR4, c[0x0][0x164]", "UMOV UR5, 0x2",
                                 "UIADD3 UR6, UR4, 0x3, URZ", "IADD3 R1, R0, UR4, RZ", "IADD3 R2, R0, UR5, RZ",
                                 "IADD3 R3, R0, UR6, RZ", "STS [R1], R2", "EXIT"})),
              ::testing::IsSupersetOf({"IADD3", "IADD3 U", "IADD3"}));
}

// What a guard of the thread leaves of a register may differ; so may a register of the thread, and a vote.
TEST(UniformValues, WhatThreadsDecideMayDiffer) {
  EXPECT_THAT(WithOperands(Code({"S2R R7, SR_TID.X", "ISETP.GE.AND P0, PT, R7, 0x20, PT", "UMOV UR4, 0x1",
                                 "@P0 UMOV UR4, 0x2", "R2UR UR5, R7", "VOTEU.ANY UR6, UPT, P0", "IADD3 R1, R0, UR4, RZ",
                                 "IADD3 R2, R0, UR5, RZ", "IADD3 R3, R0, UR6, RZ", "EXIT"})),
              ::testing::ElementsAre("S2R", "ISETP.GE.AND", "UMOV", "UMOV", "R2UR", "VOTEU.ANY", "IADD3 U", "IADD3 U",
                                     "IADD3 U", "EXIT"));
}

// All threads have the stack at one place, and parameters in registers are the launch's, too.
TEST(UniformValues, StacksAndParametersAreNotRecorded) {
  EXPECT_THAT(
      WithOperands(Code({"MOV R1, c[0x0][0x28]", "MOV R2, c[0x0][0x164]", "IADD3 R3, R2, 0x4, RZ", "R2UR UR4, R1",
                         "R2UR UR5, R3", "S2UR UR6, SR_CTAID.X", "UIADD3 UR4, UR4, 0x8, URZ", "S2R R0, SR_TID.X",
                         "ISETP.GE.AND P0, PT, R0, 0x20, PT", "IADD3 R4, R0, UR4, RZ", "IADD3 R5, R0, UR5, RZ",
                         "@P0 IADD3 R6, R0, UR6, RZ", "@P0 STS [R0+UR6], RZ", "STS [R4+UR6], R5", "EXIT"})),
      ::testing::ElementsAre("MOV", "MOV", "IADD3", "R2UR", "R2UR", "S2UR", "UIADD3", "S2R", "ISETP.GE.AND", "IADD3",
                             "IADD3", "IADD3 U", "STS AU", "STS AU", "EXIT"));
}

// For threads whose guard is false the instruction does nothing, so they record nothing. Others under the guard stay
// where they are, and so does one that only its guard makes uniform.
TEST(UniformValues, GuardedArithmeticWithUniformRegistersIsABlockOfItsOwn) {
  const Code code({"S2UR UR6, SR_CTAID.X", "S2R R0, SR_TID.X", "UISETP.GE.AND UP1, UPT, UR6, 0x2, UPT",
                   "ISETP.GE.AND P0, PT, R0, 0x20, PT", "@P0 IADD3 R6, R0, UR6, RZ", "@P0 IADD3 R7, R0, 0x1, RZ",
                   "@!P0 IMAD R8, R0, UR6, R6", "@!P0 ISETP.GE.AND P0, PT, R8, UR6, PT", "@UP1 IADD3 R9, R0, R8, RZ",
                   "@UP1 UIADD3 UR6, UR6, 0x1, URZ", "STS [R6], R8", "EXIT"});
  EXPECT_THAT(WithOperands(code),
              ::testing::ElementsAre("S2UR", "S2R", "UISETP.GE.AND", "ISETP.GE.AND", "IADD3 U", "IADD3", "IMAD U",
                                     "ISETP.GE.AND U", "IADD3", "UIADD3", "STS", "EXIT"));
  const absl::StatusOr<CanonicalModule> lowered = code.Lower();
  ASSERT_TRUE(lowered.ok()) << lowered.status();
  const absl::StatusOr<KernelUnit> unit = ReadKernel(*lowered, "walk");
  ASSERT_TRUE(unit.ok()) << unit.status();
  const absl::StatusOr<trace::Program> program = trace::Program::Create(unit->program);
  ASSERT_TRUE(program.ok()) << program.status();
  std::vector<uint32_t> guarded;  // instructions of blocks that a guard decides on
  for (const trace::Block& block : program->blocks()) {
    if (program->DecidesGuard(block)) guarded.push_back(program->block(block.successor).count);
  }
  EXPECT_THAT(guarded, ::testing::ElementsAre(1, 2));
  EXPECT_EQ(trace::CountPartingGuards(*program), 0u);  // threads of a warp stay together there
}

TEST(UniformValues, UniformRegistersAreHandedOverBeforeTheInstructionRuns) {
  const std::string ir = Code({"S2UR UR5, SR_CTAID.X", "IADD3 R1, R0, UR5, RZ", "STS [R1+UR5], R1", "EXIT"}).Ir();
  EXPECT_THAT(ir, HasSubstr("call void (...) @heddle.operands(i32 "));
}

// What a callee leaves in a register, and what it finds there.
TEST(UniformValues, CallsMayChangeUniformRegisters) {
  Code code({"UMOV UR4, 0x1", "UMOV UR5, 0x1", "CALL.REL.NOINC helper", "IADD3 R1, R0, UR4, RZ",
             "IADD3.X R2, R0, UR5, RZ, P0, !PT", "EXIT", "UMOV UR4, 0x2", "LOP3.LUT R3, R0, UR5, RZ, 0xc0, !PT",
             "RET.REL.NODEC R2, walk"});
  code.cubin.sections[0].functions.push_back({"helper", 0x60, 0x30, false});
  EXPECT_THAT(WithOperands(code),
              ::testing::UnorderedElementsAre("UMOV", "UMOV", "CALL.REL.NOINC", "IADD3 U", "IADD3.X", "EXIT", "UMOV",
                                              "LOP3.LUT U", "RET.REL.NODEC"));
}

}  // namespace
}  // namespace heddle::tracegen
