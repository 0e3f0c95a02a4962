// The static program of PTX is its text: order, registers, guards, calls, lines; and what is refused says where.
#include "tracegen/program/ptx_source/lower_module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHead[] = ".version 7.0\n.target sm_70\n.address_size 64\n";

std::string Kernel(const std::string& body) {
  return absl::StrCat(kHead, ".entry k(.param .u64 a)\n{\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p<4>;\n",
                      body, "}\n");
}

v1::KernelProgram ProgramOf(const std::string& text) {
  const absl::StatusOr<CanonicalModule> module = ReadPtx(text, "test.ptx");
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  const absl::StatusOr<KernelUnit> unit = ReadKernel(*module, "k");
  EXPECT_TRUE(unit.ok()) << unit.status();
  return unit.ok() ? unit->program : v1::KernelProgram();
}

std::vector<std::string> Mnemonics(const v1::KernelProgram& program) {
  std::vector<std::string> mnemonics;
  for (const v1::Instruction& instruction : program.instruction()) mnemonics.push_back(instruction.mnemonic());
  return mnemonics;
}

std::string Refusal(const std::string& text) {
  const absl::StatusOr<CanonicalModule> module = ReadPtx(text, "test.ptx");
  EXPECT_FALSE(module.ok());
  return std::string(module.status().message());
}

TEST(LowerModuleTest, InstructionsStandInTheirOrderWithTheirRegistersAndLines) {
  const v1::KernelProgram program = ProgramOf(
      Kernel("ld.param.u64 %rd0, [a];\nmov.u32 %r0, %tid.x;\nadd.s32 %r1, %r0, %r0;\nst.global.u32 [%rd0+4], %r1;\n"
             "ret;\n"));
  EXPECT_THAT(Mnemonics(program), ElementsAre("ld.param.u64", "mov.u32", "add.s32", "st.global.u32", "ret"));
  EXPECT_EQ(program.instruction(2).source_line(), 11u);
  EXPECT_THAT(program.instruction(3).src(), ElementsAre(1u, 3u));
  EXPECT_EQ(program.instruction(3).op(), v1::OP_STORE);
  EXPECT_EQ(program.instruction(3).access_bytes(), 4u);
  EXPECT_EQ(program.instruction(4).op(), v1::OP_EXIT);
  EXPECT_EQ(program.block_size(), 1);
}

TEST(LowerModuleTest, GuardedAccessesAreBlocksOfTheirOwn) {
  const v1::KernelProgram program =
      ProgramOf(Kernel("ld.param.u64 %rd0, [a];\nsetp.eq.u64 %p0, %rd0, 0;\n@%p0 st.global.u32 [%rd0], %r1;\n"
                       "@%p0 st.global.u32 [%rd0+4], %r1;\n@%p0 add.u32 %r1, %r1, 1;\nret;\n"));
  ASSERT_EQ(program.block_size(), 3);
  EXPECT_EQ(program.block(0).terminator(), v1::BRANCH_CONDITIONAL);
  EXPECT_EQ(program.block(1).instruction_count(), 2u) << "neighbours under one guard";
  EXPECT_THAT(program.block(0).successor(), ElementsAre(1u, 2u));
  // A guarded addition is run by all, and may leave what was there.
  EXPECT_THAT(Mnemonics(program),
              ElementsAre("ld.param.u64", "setp.eq.u64", "st.global.u32", "st.global.u32", "add.u32", "ret"));
  EXPECT_EQ(program.instruction(4).src_size(), 3);
}

TEST(LowerModuleTest, OtherGuardsSideBySideNeedAJoin) {
  const v1::KernelProgram program = ProgramOf(
      Kernel("setp.eq.u64 %p0, %rd0, 0;\n@%p0 st.global.u32 [%rd0], %r1;\n@!%p0 st.global.u32 [%rd0], %r1;\nret;\n"));
  EXPECT_THAT(Mnemonics(program), ElementsAre("setp.eq.u64", "st.global.u32", "nop.join", "st.global.u32", "ret"));
}

TEST(LowerModuleTest, GuardedExitsLeaveOthers) {
  const v1::KernelProgram program = ProgramOf(Kernel("setp.eq.u64 %p0, %rd0, 0;\n@%p0 exit;\nmov.u32 %r0, 1;\nret;\n"));
  ASSERT_EQ(program.block_size(), 3);
  EXPECT_EQ(program.block(1).terminator(), v1::EXIT);
  EXPECT_EQ(program.instruction(1).mnemonic(), "exit");
}

TEST(LowerModuleTest, MathCallsAreOneInstruction) {
  const v1::KernelProgram program = ProgramOf(
      absl::StrCat(kHead, ".extern .func (.param .b32 r) __nv_sinf(.param .b32 x);\n",
                   Kernel("{\n.param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r1;\ncall.uni (q), __nv_sinf, (p);\n"
                          "ld.param.b32 %r2, [q];\n}\nret;\n")
                       .substr(sizeof(kHead) - 1)));
  EXPECT_THAT(Mnemonics(program), ElementsAre("call.__nv_sinf", "ret"));
  EXPECT_EQ(program.instruction(0).op(), v1::OP_SFU);
  EXPECT_EQ(program.instruction(0).dst_size(), 1);
  EXPECT_EQ(program.instruction(0).src_size(), 1);
}

TEST(LowerModuleTest, JumpsToWhatFollowsAreLeftOut) {
  const v1::KernelProgram program = ProgramOf(Kernel("bra.uni L;\nL:\nmov.u32 %r0, 1;\nret;\n"));
  EXPECT_THAT(Mnemonics(program), ElementsAre("mov.u32", "ret"));
}

TEST(LowerModuleTest, SourceLinesAreThoseOfLoc) {
  const std::string text = absl::StrCat(kHead, ".file 1 \"/home/somebody/a.cu\"\n",
                                        Kernel(".loc 1 77 5\nmov.u32 %r0, 1;\nret;\n").substr(sizeof(kHead) - 1));
  const absl::StatusOr<CanonicalModule> module = ReadPtx(text, "test.ptx");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(module->source_files, ElementsAre("a.cu"));
  EXPECT_EQ(ProgramOf(text).instruction(0).source_line(), 77u);
}

TEST(LowerModuleTest, RefusalsNameTheLine) {
  EXPECT_THAT(Refusal(Kernel("bar.sync %r0;\nret;\n")), HasSubstr("line 9"));
  EXPECT_THAT(Refusal(Kernel("mov.u32 %r0, %nonsense;\nret;\n")), HasSubstr("line 9"));
  EXPECT_THAT(Refusal(Kernel("frobnicate.u32 %r0, 1;\nret;\n")), HasSubstr("line 9"));
  EXPECT_THAT(Refusal(Kernel("cp.async.wait_all;\nret;\n")), HasSubstr("not supported"));
  EXPECT_THAT(Refusal(".version 7.0\n.target sm_70\n.address_size 32\n.entry k()\n{\nret;\n}\n"), HasSubstr("32 bits"));
  EXPECT_THAT(Refusal(kHead), HasSubstr("no kernel"));
}

}  // namespace
}  // namespace heddle::tracegen
