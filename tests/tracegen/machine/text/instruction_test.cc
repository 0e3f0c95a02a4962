#include "tracegen/machine/text/instruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::tracegen::machine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Instruction Read(std::string_view line) {
  const absl::StatusOr<Instruction> instruction = ParseInstruction(line);
  EXPECT_TRUE(instruction.ok()) << line << ": " << instruction.status();
  return instruction.ok() ? *instruction : Instruction();
}

std::string Refusal(std::string_view line) {
  const absl::StatusOr<Instruction> instruction = ParseInstruction(line);
  EXPECT_FALSE(instruction.ok()) << line;
  return std::string(instruction.status().message());
}

TEST(MachineInstruction, HasGuardModifiersAndOperands) {
  const Instruction load = Read("@!P3 LDG.E.64.CONSTANT R2, [R4.64+0x8] ;");
  EXPECT_EQ(load.opcode(), "LDG");
  EXPECT_EQ(load.Mnemonic(), "LDG.E.64.CONSTANT");
  EXPECT_THAT(load.modifiers, ElementsAre("E", "64", "CONSTANT"));
  EXPECT_TRUE(load.Has("64"));
  EXPECT_FALSE(load.Has("128"));
  ASSERT_TRUE(load.guard.has_value());
  EXPECT_EQ(load.guard->sign, '!');
  EXPECT_EQ(load.guard->reg.number, 3);
  EXPECT_EQ(load.operands.size(), 2u);
}

TEST(MachineInstruction, OperandsFillThePlacesOfTheForm) {
  // d p? p? s s s q? q?: the carry out is the second place, the carry in the seventh.
  EXPECT_THAT(Read("IADD3 R4, P1, R4, 0x4, RZ").places, ElementsAre(0, 1, 3, 4, 5));
  EXPECT_THAT(Read("IADD3.X R5, RZ, R5, RZ, P1, !PT").places, ElementsAre(0, 3, 4, 5, 6, 7));
  EXPECT_THAT(Read("LOP3.LUT P0, RZ, R2, 0x1, RZ, 0xc0, !PT").places, ElementsAre(0, 1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Read("LOP3.LUT R5, R2, 0x1, RZ, 0xc0, !PT").places, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(Read("VOTE.ANY P0, !P1").places, ElementsAre(1, 2));
}

TEST(MachineInstruction, ModifiersChooseTheRow) {
  EXPECT_EQ(Read("IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28]").form->op, trace::v1::OP_MOVE);
  EXPECT_EQ(Read("IMAD R1, R2, R3, R4").form->op, trace::v1::OP_INT_MUL);
  EXPECT_EQ(Read("F2I.S64.F64 R2, R4").form->operands, "d:2 s:2");
  EXPECT_EQ(Read("F2I.FTZ.U32.TRUNC.NTZ R2, R4").form->operands, "d s");
}

TEST(MachineInstruction, PrintsWhatItRead) {
  for (const char* line : {"NOP",
                           "EXIT",
                           "@P0 BRA 0x1500",
                           "BRA !P2, 0x1500",
                           "BRA.DIV UR4, 0x610",
                           "BRA.DIV 0x460",
                           "BRA.CONV 0x3ba0",
                           "F2F.F16.F32 R7, R6",
                           "BRX R10, -0x1900",
                           "BSSY B0, 0x240",
                           "BREAK B0, P1",
                           "CALL.REL.NOINC 0x12a0",
                           "CALL.ABS.NOINC R8",
                           "RET.REL.NODEC R12, kernel",
                           "WARPSYNC 0xffffffff",
                           "WARPSYNC.COLLECTIVE R0, 0x500",
                           "YIELD",
                           "BAR.SYNC.DEFER_BLOCKING 0x0",
                           "BAR.RED.OR.DEFER_BLOCKING 0x0, !P2",
                           "ISETP.GE.U32.AND.EX P0, PT, R3, R5, PT, P1",
                           "IMAD.WIDE.U32 R4, P2, R0, R5, c[0x0][0x168]",
                           "LEA.HI.X.SX32 R9, R9, c[0x0][0x174], 0x1, P6",
                           "SHF.R.S32.HI R3, RZ, 0x1f, R0",
                           "PRMT R4, R9.reuse, 0x8880, RZ",
                           "FSETP.NEU.FTZ.AND P0, PT, |R7|, +INF, PT",
                           "HFMA2.MMA R7, -RZ, RZ, 0.96630859375, -0.0022525787353515625",
                           "MUFU.RSQ R24, -QNAN",
                           "DSETP.MAX.AND P1, P2, R10.reuse, R14, PT",
                           "SHFL.BFLY PT, R7, R6, 0x1, 0x1f",
                           "ATOMG.E.CAS.STRONG.GPU PT, R4, [R4.64], R8, R9",
                           "RED.E.ADD.F64.RN.STRONG.GPU [UR6+0x48], R6",
                           "ATOMS.POPC.INC.32 RZ, [R15.X4+URZ+0x700]",
                           "LDG.E R4, desc[UR6][R4.64]",
                           "STS.128 [R4+0x10], R8",
                           "LDC.64 R8, c[0x3][R4+-0x8]",
                           "R2P PR, R5.B3, 0x7f",
                           "P2R R14, PR, RZ, 0x1",
                           "BMOV.32.CLEAR RZ, B0",
                           "BMOV.32 MACTIVE, B15",
                           "DEPBAR.LE SB0, 0x0, {1}",
                           "TEX.SCR.LL RZ, R9, R8, R2, 0x0, 0x5e, ARRAY_2D, 0x1",
                           "ULDC.64 UR4, c[0x0][0x118]",
                           "VOTEU.ANY UR5, UPT, PT",
                           "R2UR P2, URZ, R5",
                           "@UP0 UMOV UR4, 0x1",
                           "PLOP3.LUT P0, PT, R0.SIGN, R3.SIGN, R2.SIGN, 0x2, 0x0",
                           "PLOP3.LUT P0, PT, R0.SIGN, c[0x0][0x174].SIGN, !PT, 0x2, 0x0",
                           "PLOP3.LUT P0, PT, R42.SIGN, UR4.SIGN, PT, 0x80, 0x0",
                           "HMMA.16816.F32 R4, R8, R12, R4",
                           "LDGSTS.E.BYPASS.128 [R2], desc[UR4][R6.64], P0",
                           "LDGSTS.E [R2][R6.64]"}) {
    EXPECT_EQ(InstructionText(Read(line)), line);
  }
}

TEST(MachineInstruction, JsonHasThePredicatesOfP2rInPlaceOfAGuard) {
  const absl::StatusOr<Instruction> read = ParseInstruction("PR", "P2R", "R14,RZ,0x1");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(InstructionText(*read), "P2R R14, PR, RZ, 0x1");
  EXPECT_FALSE(ParseInstruction("PR", "MOV", "R14,RZ").ok());
}

TEST(MachineInstruction, RefusesWhatIsNotKnown) {
  EXPECT_THAT(Refusal("FROB R1, R2"), HasSubstr("opcode 'FROB' is not known"));
  EXPECT_THAT(Refusal("@P0"), HasSubstr("opcode '' is not known"));
  EXPECT_THAT(Refusal("CALL.REL.NOINC `(SNAN)"), HasSubstr("operand '`(SNAN)' is not known"));
  EXPECT_THAT(Refusal("BRA `(SR_x)"), HasSubstr("operand '`(SR_x)' is not known"));
  EXPECT_THAT(Refusal("FROB R1, %%"), HasSubstr("opcode 'FROB' is not known"));
  EXPECT_THAT(Refusal("IADD3.SAT R1, R2, R3, R4"), HasSubstr("modifiers of 'IADD3.SAT' are not known"));
  EXPECT_THAT(Refusal("IADD3.X.X R1, R2, R3, R4"), HasSubstr("modifiers of 'IADD3.X.X' are not known"));
  EXPECT_THAT(Refusal("IADD3 R1, R2"), HasSubstr("operands 'R1, R2' of IADD3 are of no known form"));
  EXPECT_THAT(Refusal("IADD3 P1, R2, R3, R4"), HasSubstr("are of no known form"));
  EXPECT_THAT(Refusal("IADD3 -R1, R2, R3, R4"), HasSubstr("are of no known form"));
  EXPECT_THAT(Refusal("MOV R1, [R2"), HasSubstr("MOV: operand '[R2' is not known"));
  EXPECT_THAT(Refusal("@R1 MOV R1, R2"), HasSubstr("guard '@R1' is no predicate"));
  EXPECT_THAT(Refusal(""), HasSubstr("opcode '' is not known"));
}

TEST(MachineInstruction, RefusesRegistersBeyondTheFile) {
  EXPECT_THAT(Refusal("LDG.E.128 R252, [R4.64]"), HasSubstr("are of no known form"));
  Read("LDG.E.128 R248, [R4.64]");
  EXPECT_THAT(Refusal("ULDC.64 UR62, c[0x0][0x118]"), HasSubstr("are of no known form"));
}

}  // namespace
}  // namespace heddle::tracegen::machine
