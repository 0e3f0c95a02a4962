#include "tracegen/machine/text/operand.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace heddle::tracegen::machine {
namespace {

using ::testing::HasSubstr;
using Kind = Operand::Kind;

Operand Read(std::string_view text) {
  const absl::StatusOr<Operand> operand = ParseOperand(text);
  EXPECT_TRUE(operand.ok()) << text << ": " << operand.status();
  return operand.ok() ? *operand : Operand();
}

TEST(MachineOperand, RegistersOfEveryFile) {
  EXPECT_EQ(Read("R254").use.reg, (Register{RegisterFile::kGeneral, 254, false}));
  EXPECT_EQ(Read("RZ").use.reg, (Register{RegisterFile::kGeneral, 255, true}));
  EXPECT_EQ(Read("P6").use.reg, (Register{RegisterFile::kPredicate, 6, false}));
  EXPECT_EQ(Read("!PT").use.reg, (Register{RegisterFile::kPredicate, 7, true}));
  EXPECT_EQ(Read("UR62").use.reg, (Register{RegisterFile::kUniform, 62, false}));
  EXPECT_EQ(Read("URZ").use.reg, (Register{RegisterFile::kUniform, 63, true}));
  EXPECT_EQ(Read("UP0").use.reg, (Register{RegisterFile::kUniformPredicate, 0, false}));
  EXPECT_EQ(Read("UPT").use.reg, (Register{RegisterFile::kUniformPredicate, 7, true}));
  EXPECT_EQ(Read("B15").use.reg, (Register{RegisterFile::kConvergence, 15, false}));
}

TEST(MachineOperand, NumbersBeyondAFileAreNoRegisters) {
  for (const char* text : {"R255", "R256", "P7", "UR63", "UP7", "B16", "R01", "R"}) {
    EXPECT_FALSE(ParseRegister(text).has_value()) << text;
  }
}

TEST(MachineOperand, WhatStandsAroundARegister) {
  const RegisterUse use = Read("-|R4|.reuse").use;
  EXPECT_EQ(use.sign, '-');
  EXPECT_TRUE(use.absolute);
  EXPECT_TRUE(use.reuse);
  EXPECT_EQ(use.reg.number, 4);
  EXPECT_EQ(Read("R5.reuse.H0_H0").use.part, "H0_H0");
  EXPECT_TRUE(Read("R5.reuse.H0_H0").use.reuse);
  EXPECT_EQ(Read("R5.B3").use.part, "B3");
  EXPECT_FALSE(Read("R5.B3").use.reuse);
}

TEST(MachineOperand, Addresses) {
  const Operand all = Read("[R4.U32+UR6+-0x10]");
  ASSERT_EQ(all.kind, Kind::kAddress);
  EXPECT_EQ(all.address.base->part, "U32");
  EXPECT_EQ(all.address.uniform->reg.number, 6);
  EXPECT_EQ(all.address.offset, -16);
  const Operand described = Read("desc[UR8][R6.64+0x8]");
  EXPECT_EQ(described.descriptor->reg.number, 8);
  EXPECT_EQ(described.address.base->part, "64");
  EXPECT_EQ(described.address.offset, 8);
  EXPECT_EQ(Read("[0x10b]").address.offset, 0x10b);
  EXPECT_FALSE(Read("[0x10b]").address.base.has_value());
}

TEST(MachineOperand, Constants) {
  const Operand plain = Read("-|c[0x3][R0+0x10]|");
  ASSERT_EQ(plain.kind, Kind::kConstant);
  EXPECT_EQ(plain.bank, 3u);
  EXPECT_EQ(plain.use.sign, '-');
  EXPECT_TRUE(plain.use.absolute);
  EXPECT_EQ(plain.address.base->reg.number, 0);
  EXPECT_EQ(plain.address.offset, 16);
  EXPECT_EQ(Read("cx[UR4][0x8]").kind, Kind::kBindless);
}

TEST(MachineOperand, Numbers) {
  EXPECT_EQ(Read("-0x1f").value, -31);
  EXPECT_EQ(Read("0xffffffff").value, 0xffffffff);
  EXPECT_FALSE(Read("0x1").is_float);
  EXPECT_TRUE(Read("39").is_float);
  EXPECT_EQ(Read("-1.5").number, -1.5);
  EXPECT_EQ(Read("1.84467440737095516160e+19").number, 18446744073709551616.0);
  EXPECT_EQ(Read("-INF ").number, -INFINITY);
  EXPECT_TRUE(std::isnan(Read("-QNAN ").number));
}

TEST(MachineOperand, PrintsWhatItRead) {
  for (const char* text : {"R0",
                           "-R5",
                           "~R10.reuse",
                           "|R12|",
                           "-|R3|.reuse",
                           "!P2",
                           "R2.64",
                           "R5.reuse.H0_H0",
                           "URZ",
                           "B0",
                           "0x0",
                           "-0x1900",
                           "0xffffffffffffffff",
                           "39",
                           "-12583039",
                           "5.9604644775390625e-08",
                           "+INF",
                           "-QNAN",
                           "-0.0",
                           "c[0x0][0x160]",
                           "c[0x3][-0xc]",
                           "-c[0x3][R4+-0x8]",
                           "c[0x0][RZ]",
                           "c[0x3][UR6+0x38]",
                           "[R7.X4+URZ+0x1000]",
                           "[UR5+-0x4]",
                           "[RZ]",
                           "[R2][R4.64+0x8]",
                           "desc[UR6][R4.64+UR8+0x8]",
                           "cx[UR4][0x10]",
                           "SR_TID.X",
                           "SRZ",
                           "SR_CgaCtaId",
                           "PR",
                           "ARRAY_2D",
                           "2D",
                           "MACTIVE",
                           "ZPPPZPPP",
                           "SB5",
                           "{1}",
                           "{5,3,0}",
                           "$__internal_0_$__cuda_sm20_rcp",
                           "_Z6normalPKf"}) {
    EXPECT_EQ(OperandText(Read(text)), text);
  }
}

TEST(MachineOperand, RefusesWhatItCannotPrintAgain) {
  for (const char* text :
       {"",          "[]",           "[0x4+R2]", "[UR2+R4]",     "[R2+R4]", "[-R2]", "c[0x0]", "c[0x40][0x0]",
        "-[R2]",     "0x",           "0x01",     "-0x0",         "0x1F",    "1.5.2", "|R2",    "R2.",
        "R2.reuse.", "desc[R2][R4]", "{}",       "{6}",          "{1,}",    "SB6",   "a b",    "0x11112222333344445",
        "\x1b[31m",  "[R2",          "R2]",      "[R2][R4][R6]", "[R2]R4"}) {
    EXPECT_FALSE(ParseOperand(text).ok()) << text;
  }
  EXPECT_THAT(std::string(ParseOperand("a\x1b b").status().message()), HasSubstr("a\\u001b b"));
}

}  // namespace
}  // namespace heddle::tracegen::machine
