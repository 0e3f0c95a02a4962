// Operands of all forms, and what instructions take.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tracegen/ptx/syntax/snippet.h"
#include "tracegen/ptx/syntax/print.h"

namespace heddle::tracegen::ptx {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using Kind = Operand::Kind;

// The only instruction of a kernel's body.
class OneInstruction {
 public:
  explicit OneInstruction(std::string_view text) : module_(ParsedKernel(text)) {
    const auto all = InstructionsOf(KernelOf(module_));
    EXPECT_THAT(all, SizeIs(1));
    static const Instruction& nothing = *new Instruction{AllForms().data(), {}, std::vector<Operand>(8), std::nullopt};
    instruction_ = all.empty() ? &nothing : all[0];
  }
  const Instruction* operator->() const { return instruction_; }
  const Operand& operator[](size_t i) const { return instruction_->operands[i]; }

 private:
  Module module_;
  const Instruction* instruction_ = nullptr;
};

TEST(Operand, Numbers) {
  const auto bits = [](std::string_view text) {
    return OneInstruction(std::string("mov.b64 %rd1, ") + std::string(text) + ";")[1].bits;
  };
  EXPECT_EQ(bits("42"), 42u);
  EXPECT_EQ(bits("-1"), ~uint64_t{0});
  EXPECT_EQ(bits("0x7fU"), 127u);
  EXPECT_EQ(bits("0b110"), 6u);
  EXPECT_EQ(bits("017"), 15u);
  EXPECT_EQ(bits("18446744073709551615"), ~uint64_t{0});
  EXPECT_EQ(bits("-9223372036854775808"), uint64_t{1} << 63);
  EXPECT_EQ(bits("(1 + 2) * 3 - 4 / 2"), 7u);
  EXPECT_EQ(bits("1 << 2 + 1"), 8u);
  EXPECT_EQ(bits("~0 ^ 1"), ~uint64_t{1});
  EXPECT_EQ(bits("5 % 3"), 2u);
  EXPECT_EQ(bits("5%3"), 2u);
  EXPECT_EQ(bits("-7 / 2"), static_cast<uint64_t>(-3));
  EXPECT_EQ(bits("(.u64)-2 > 1 ? 10 : 20"), 10u);
  EXPECT_EQ(bits("-2 > 1 ? 10 : 20"), 20u);
  EXPECT_EQ(bits("!0 && 3 || 0"), 1u);
  EXPECT_EQ(bits("-1 >> 70"), ~uint64_t{0});
  EXPECT_EQ(bits("1 << 64"), 0u);
  EXPECT_EQ(bits("(.s64)-1.9"), ~uint64_t{0});
  EXPECT_EQ(bits("(-9223372036854775807 - 1) / -1"), uint64_t{1} << 63);
}

TEST(Operand, NumbersThatAreNoneAreRefused) {
  EXPECT_THAT(KernelError("mov.b64 %rd1, 18446744073709551616;"), HasSubstr("no number of PTX"));
  EXPECT_THAT(KernelError("mov.b64 %rd1, 09;"), HasSubstr("no number of PTX"));
  EXPECT_THAT(KernelError("mov.f32 %f1, 0f3F80;"), HasSubstr("a wrong count of digits"));
  EXPECT_THAT(KernelError("mov.f32 %f1, 0f3F80zz00;"), HasSubstr("a wrong count of digits"));
  EXPECT_THAT(KernelError("mov.b64 %rd1, 1 / 0;"), HasSubstr("a division by zero"));
  EXPECT_THAT(KernelError("mov.b64 %rd1, 1.5 << 2;"), HasSubstr("an operator that these numbers do not have"));
}

TEST(Operand, FloatsKeepTheFormThatTheyHave) {
  const OneInstruction single("mov.f32 %f1, 0f3F800000;");
  EXPECT_EQ(single[1].kind, Kind::kFloat32);
  EXPECT_EQ(single[1].bits, 0x3f800000u);
  const OneInstruction twofold("mov.f64 %fd1, 0d3FF0000000000000;");
  EXPECT_EQ(twofold[1].kind, Kind::kFloat64);
  EXPECT_EQ(twofold[1].bits, 0x3ff0000000000000u);
  EXPECT_EQ(OneInstruction("mov.f32 %f1, 1.5e-1;")[1].bits, 0x3fc3333333333333u);
  EXPECT_EQ(OneInstruction("mov.f32 %f1, -0f3F800000;")[1].bits, 0xbf800000u);
  EXPECT_EQ(OneInstruction("mov.u32 %r1, WARP_SZ;")[1].kind, Kind::kWarpSize);
  EXPECT_EQ(OneInstruction("mov.u32 %r1, WARP_SZ - 1;")[1].bits, 31u);
}

TEST(Operand, RegistersSpecialOnesAndSymbols) {
  const OneInstruction special("mov.u32 %r1, %ctaid.y;");
  EXPECT_EQ(special[1].kind, Kind::kSpecial);
  EXPECT_EQ(special[1].text, "%ctaid");
  EXPECT_EQ(special[1].selector, "y");
  EXPECT_EQ(OneInstruction("mov.u32 %r1, %envreg31;")[1].text, "%envreg31");
  EXPECT_THAT(KernelError("mov.u32 %r1, %envreg32;"), HasSubstr("not declared"));
  const OneInstruction address("mov.u64 %rd1, words+8;");
  EXPECT_EQ(address[1].kind, Kind::kSymbol);
  EXPECT_EQ(address[1].symbol, SymbolKind::kGlobal);
  EXPECT_EQ(address[1].offset, 8);
  EXPECT_EQ(OneInstruction("mov.u64 %rd1, words[3];")[1].offset, 12);
  EXPECT_EQ(OneInstruction("mov.u64 %rd1, f;")[1].symbol, SymbolKind::kFunction);
  EXPECT_THAT(KernelError("mov.b32 %r1, _;"), HasSubstr("operands"));
}

TEST(Operand, Addresses) {
  const OneInstruction plain("ld.global.u32 %r1, [%rd1];");
  EXPECT_EQ(plain[1].kind, Kind::kAddress);
  EXPECT_EQ(plain[1].elements[0].kind, Kind::kRegister);
  EXPECT_EQ(plain[1].offset, 0);
  EXPECT_FALSE(plain[1].elements[0].written);
  EXPECT_EQ(OneInstruction("ld.global.u32 %r1, [%rd1+16];")[1].offset, 16);
  EXPECT_EQ(OneInstruction("ld.global.u32 %r1, [%rd1+-16];")[1].offset, -16);
  EXPECT_EQ(OneInstruction("ld.global.u32 %r1, [ %rd1 - 0x10 + 4 ];")[1].offset, -12);
  EXPECT_EQ(OneInstruction("ld.global.u32 %r1, [words+4];")[1].elements[0].kind, Kind::kSymbol);
  EXPECT_EQ(OneInstruction("ld.global.u32 %r1, words[2];")[1].offset, 8);
  EXPECT_EQ(OneInstruction("ld.shared.u32 %r1, [64];")[1].elements[0].bits, 64u);
  const OneInstruction texture("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, {%f5, %f6}];");
  EXPECT_THAT(texture[1].elements, SizeIs(2));
  EXPECT_EQ(texture[1].elements[1].kind, Kind::kVector);
  const OneInstruction handle("tex.1d.v4.u32.s32 {%r1, _, %r2, _}, [%rd1, %rd2, {%r3}];");
  EXPECT_THAT(handle[1].elements, SizeIs(3));
  EXPECT_EQ(handle[0].elements[1].kind, Kind::kSink);
  EXPECT_THAT(KernelError("ld.global.u32 %r1, [%tid.x];"), HasSubstr("a special register as address"));
  EXPECT_THAT(KernelError("ld.global.u32 %r1, %rd1;"), HasSubstr("operands that this instruction does not have"));
}

TEST(Operand, VectorsPairsGuardsAndSigns) {
  const OneInstruction load("@!%p2 ld.global.nc.L1::no_allocate.v2.f32 {%f1, _}, [%rd1];");
  ASSERT_TRUE(load->guard.has_value());
  EXPECT_TRUE(load->guard->negated);
  EXPECT_EQ(load[0].kind, Kind::kVector);
  EXPECT_TRUE(load[0].elements[0].written);
  const OneInstruction pair("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;");
  EXPECT_EQ(pair[0].kind, Kind::kPair);
  EXPECT_TRUE(pair[0].elements[1].written);
  EXPECT_TRUE(pair[3].negated);
  const OneInstruction shuffle("shfl.sync.down.b32 %r1|%p1, %r2, 16, 31, -1;");
  EXPECT_EQ(shuffle[0].kind, Kind::kPair);
  const OneInstruction packed("mov.b64 {%r1, %r2}, %rd1;");
  EXPECT_TRUE(packed[0].elements[1].written);
  const OneInstruction video("vmad.s32.s32.u32.sat %r1, %r2.b0, -%r3.h1, %r4;");
  EXPECT_EQ(video[1].selector, "b0");
  EXPECT_TRUE(video[2].minus);
  EXPECT_EQ(video[2].selector, "h1");
  EXPECT_EQ(OneInstruction("ld.global.b32 { %r1 }, [ %rd1 + 0 ];")[0].kind, Kind::kRegister)
      << "one element, no vector";
  EXPECT_THAT(KernelError("@%r1 ret;"), HasSubstr("a guard that is no predicate: '@%r1'"));
}

TEST(Operand, ComponentsOfVectorRegisters) {
  const OneInstruction element(".reg .v4 .f32 v; mov.f32 %f1, v.g;");
  EXPECT_EQ(element[1].selector, "y");
  const OneInstruction whole(".reg .v2 .b32 v; ld.global.v2.b32 v, [%rd1];");
  EXPECT_EQ(whole[0].kind, Kind::kRegister);
  EXPECT_TRUE(OneInstruction(".reg .v2 .b32 v; mov.b64 %rd1, v;")->form != nullptr);
  EXPECT_THAT(KernelError(".reg .v2 .b32 v; mov.b32 %r1, v.z;"), HasSubstr("a component that the register lacks"));
  EXPECT_THAT(KernelError("mov.b32 %r1, %r2.x1;"), HasSubstr("a component that is not known"));
}

TEST(Operand, WidthsOfRegistersFollowThePtxManual) {
  EXPECT_THAT(KernelError("add.s32 %r1, %rd1, %r2;"),
              HasSubstr("register %rd1 has 64 bits, the instruction takes 32: 'add.s32 %r1, %rd1, %r2'"));
  EXPECT_THAT(KernelError("mul.wide.u32 %r1, %r2, %r3;"), HasSubstr("takes 64"));
  EXPECT_THAT(KernelError("ld.global.u64 %r1, [%rd1];"), HasSubstr("takes at least 64"));
  EXPECT_THAT(KernelError("mov.b64 {%r1, %rs1}, %rd1;"), HasSubstr("an operand of 48 bits"));
  EXPECT_THAT(KernelError("shl.b64 %rd1, %rd2, %rd3;"), HasSubstr("%rd3 has 64 bits"));
  // Loads, stores and conversions may take wider ones.
  ParsedKernel("ld.global.u8 %r1, [%rd1]; st.global.u8 [%rd1], %r1; cvt.u8.u32 %rd1, %rd2; shl.b64 %rd1, %rd2, %r3;");
}

TEST(Operand, CountsAndKindsFollowTheTable) {
  for (const char* text :
       {"add.s32 %r1, %r2;", "add.s32 %r1, %r2, %r3, %r4;", "add.s32 [%rd1], %r2, %r3;", "add.s32 5, %r2, %r3;",
        "add.s32 %r1, %p1, %r3;", "and.pred %p1, %r1, %p2;", "setp.eq.s32 %r1, %r2, %r3;",
        "ld.global.v4.u32 {%r1, %r2}, [%rd1];", "ld.global.u32 {%r1, %r2}, [%rd1];", "st.global.u32 %r1, [%rd1];",
        "bar.sync;", "selp.b32 %r1, %r2, %r3, %r4;", "lop3.b32 %r1, %r2, %r3, %r4, %r5;", "ret %r1;"}) {
    EXPECT_THAT(KernelError(text), HasSubstr("operands that this instruction does not have")) << text;
  }
}

TEST(Operand, ModifiersFollowTheTable) {
  EXPECT_THAT(KernelError("add.wide.s32 %r1, %r2, %r3;"), HasSubstr("modifiers that this instruction does not have"));
  EXPECT_THAT(KernelError("add.colour.s32 %r1, %r2, %r3;"),
              HasSubstr("line 21: a modifier that 'add' does not have: '.colour'"));
  EXPECT_THAT(KernelError("add %r1, %r2, %r3;"), HasSubstr("modifiers"));
  EXPECT_THAT(KernelError("frobnicate.u32 %r1;"), HasSubstr("line 21: an instruction that is not known: 'frobnicate'"));
  EXPECT_THAT(KernelError("cvt.f32 %f1, %r1;"), HasSubstr("modifiers"));
  // In another order than the manual's, as producers write them; but types keep theirs.
  EXPECT_EQ(OneInstruction("vote.ballot.sync.b32 %r1, %p1, -1;")->Mnemonic(), "vote.ballot.sync.b32");
  EXPECT_EQ(OneInstruction("atom.add.release.gpu.u32 %r1, [%rd1], 1;")->form->op, trace::v1::OP_ATOMIC);
  EXPECT_THAT(KernelError("cvt.f32.rn.s64 %rd1, %f1;"), HasSubstr("register %f1 has 32 bits"));
}

TEST(Operand, WhatAnInstructionIsAndSays) {
  const OneInstruction load("ld.volatile.shared::cta.v4.u16 {%rs1, %rs2, %rs3, %rs4}, [buffer];");
  EXPECT_EQ(load->opcode(), "ld");
  EXPECT_TRUE(load->Has("volatile"));
  EXPECT_FALSE(load->Has("global"));
  EXPECT_EQ(load->Space(), StateSpace::kShared);
  EXPECT_EQ(load->VectorSize(), 4u);
  EXPECT_EQ(load->LastType().bits, 16);
  EXPECT_EQ(load->form->op, trace::v1::OP_LOAD);
  EXPECT_EQ(load->form->meaning, Meaning::kKnown);
  const OneInstruction convert("cvt.rn.f32.s64 %f1, %rd1;");
  EXPECT_EQ(convert->TypeAt(0).name, "f32");
  EXPECT_EQ(convert->TypeAt(1).name, "s64");
  EXPECT_FALSE(convert->TypeAt(2).exists());
  const OneInstruction multiply(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
      "{%f1,%f2,%f3,%f4};");
  EXPECT_EQ(multiply->form->op, trace::v1::OP_TENSOR);
  EXPECT_EQ(multiply->form->meaning, Meaning::kKnown);
  EXPECT_TRUE(multiply[0].elements[3].written);
  EXPECT_FALSE(multiply[3].elements[3].written);
}

TEST(Operand, TodaysInstructionsAreRead) {
  for (const char* text :
       {"cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16, %r2;",
        "cp.async.wait_group 2;",
        "cp.async.commit_group;",
        ("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], "
         "[%r4];"),
        "mbarrier.init.shared::cta.b64 [%r1], 128;",
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 4096;",
        "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r2;",
        "mbarrier.arrive.shared.b64 %rd1, [%r1];",
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r5];",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, %p1, 1, 1, 0, 1;",
        "wgmma.wait_group.sync.aligned 0;",
        "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;",
        "tcgen05.ld.sync.aligned.16x256b.x1.b32 {%r1, %r2, %r3, %r4}, [%r5];",
        "elect.sync _|%p1, 0xffffffff;",
        "barrier.cluster.arrive.release.aligned;",
        "fence.proxy.async.shared::cta;",
        "griddepcontrol.wait;",
        "setmaxnreg.inc.sync.aligned.u32 240;",
        "mapa.shared::cluster.u32 %r1, %r2, %r3;",
        "bar.arrive 1, 64;",
        "createpolicy.fractional.L2::evict_first.b64 %rd1, 1.0;",
        "red.global.add.noftz.v4.f16x2 [%rd1], {%r1,%r2,%r3,%r4};",
        "ld.global.L2::cache_hint.v4.b32 {%r1,%r2,%r3,%r4}, [%rd1], %rd2;",
        "cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2;",
        "multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r1], %r2, [%r3];",
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%r9], %r10;",
        "fma.rn.f32x2 %rd1, %rd2, %rd3, %rd4;",
        "redux.sync.add.s32 %r1, %r2, -1;",
        "stacksave.u64 %rd1;",
        "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %rq1;",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, "
        "{%r5,%r6,%r7,%r8}, {%f1,%f2,%f3,%f4}, %r9, 0x0;"}) {
    const OneInstruction instruction(text);
    EXPECT_TRUE(instruction->form != nullptr) << text;
  }
}

}  // namespace
}  // namespace heddle::tracegen::ptx
