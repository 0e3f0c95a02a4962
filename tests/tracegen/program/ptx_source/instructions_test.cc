// PTX instructions at the edges of what they do, against values worked out by hand or on the host.
#include <bit>
#include <cmath>
#include <limits>

#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kA = 0x9234'5678, kB = 0xdeed'beef;

struct Case {
  std::string statements;  // leave their result in %r0; %r1 holds kA, %r2 kB
  uint32_t expected;
};

class InstructionsTest : public CaptureTest {
 protected:
  // A kernel that evaluates all of them, one after the other, in one thread.
  void Expect(const std::vector<Case>& cases, const std::string& module_text = "") {
    std::string text = absl::StrCat(
        ".version 8.0\n.target sm_80\n.address_size 64\n", module_text,
        ".visible .entry k(.param .u64 out, .param .u32 a, .param .u32 b)\n{\n"
        "\t.reg .b32 %r<16>;\n\t.reg .b64 %rd<16>;\n\t.reg .b16 %h<16>;\n\t.reg .f32 %f<16>;\n\t.reg .f64 %fd<16>;\n"
        "\t.reg .pred %p<8>;\n\t.reg .b64 %out;\n\tld.param.u64 %out, [out];\n\tcvta.to.global.u64 %out, %out;\n"
        "\tld.param.u32 %r1, [a];\n\tld.param.u32 %r2, [b];\n");
    std::vector<double> expected;
    for (const Case& one : cases) {
      absl::StrAppend(&text, "\tmov.u32 %r0, 0;\n\t", one.statements, "\n\tst.global.u32 [%out+", 4 * expected.size(),
                      "], %r0;\n");
      expected.push_back(one.expected);
    }
    text += "\tret;\n}\n";
    const std::string recipe = absl::StrCat(
        "buffer { name: \"out\" type: U32 count: ", expected.size(), " fill { zeros {} } }\n",
        "launch { kernel: \"k\" argument { buffer: \"out\" } argument { u32: ", kA, " } argument { u32: ", kB,
        " } }\ncheck { buffer: \"out\" expected { ", Values(expected), " } }\n");
    Succeeds(text, recipe, "ptx");
  }
};

std::string Hex(float value) { return absl::StrFormat("0f%08x", std::bit_cast<uint32_t>(value)); }

TEST_F(InstructionsTest, AddressesInNarrowStateSpacesWrap) {
  Expect(
      {
          {"{ .local .align 4 .b8 l[16]; mov.u64 %rd1, l; st.local.u32 [%rd1+4], %r1; add.u64 %rd2, %rd1, "
           "0x100000000; ld.local.u32 %r0, [%rd2+4]; }",
           kA},
          {"mov.u64 %rd1, c; sub.u64 %rd1, %rd1, 8; ld.const.u32 %r0, [%rd1+12];", 22},
          {"mov.u64 %rd1, c; add.u64 %rd1, %rd1, 0x100000004; ld.const.u32 %r0, [%rd1];", 22},
          {"{ .shared .align 4 .b32 s[2]; mov.u64 %rd1, s; st.shared.u32 [%rd1+4], %r2; add.u64 %rd1, %rd1, "
           "0x100000004; ld.shared.u32 %r0, [%rd1]; }",
           kB},
      },
      ".const .align 4 .u32 c[2] = {11, 22};\n");
}

TEST_F(InstructionsTest, NumbersOfEightBits) {
  const auto to_bytes = [](const char* type, float high, float low) {
    return absl::StrCat("mov.f32 %f1, ", Hex(high), "; mov.f32 %f2, ", Hex(low), "; cvt.rn.satfinite.", type,
                        ".f32 %h1, %f1, %f2; cvt.u32.u16 %r0, %h1;");
  };
  const float infinite = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  Expect({
      {to_bytes("e4m3x2", 1.0f, -2.0f), 0x38c0},
      {to_bytes("e4m3x2", 464.0f, 465.0f), 0x7e7e},  // the largest is 448
      {to_bytes("e4m3x2", infinite, nan), 0x7e7f},
      {to_bytes("e4m3x2", 1.0625f, 1.1875f), 0x383a},      // ties
      {to_bytes("e4m3x2", 0x1p-10f, 0x1.8p-10f), 0x0001},  // half of the least number, and more
      {to_bytes("e5m2x2", 1.0f, -0.0f), 0x3c80},
      {to_bytes("e5m2x2", -61440.0f, 57344.0f), 0xfb7b},
      {to_bytes("e5m2x2", 0x1p-16f, 0x1.8p-17f), 0x0101},
      {"mov.b32 %r3, 0x3c00c000; cvt.rn.satfinite.e4m3x2.f16x2 %h1, %r3; cvt.u32.u16 %r0, %h1;", 0x38c0},
      {"mov.b32 %r3, 0x3c00c000; cvt.rn.satfinite.relu.e5m2x2.f16x2 %h1, %r3; cvt.u32.u16 %r0, %h1;", 0x3c00},
      {"mov.b16 %h1, 0x7ec0; cvt.rn.f16x2.e4m3x2 %r0, %h1;", 0x5f00c000},
      {"mov.b16 %h1, 0x017f; cvt.rn.f16x2.e4m3x2 %r0, %h1;", 0x18007fff},
      {"mov.b16 %h1, 0xfc01; cvt.rn.f16x2.e5m2x2 %r0, %h1;", 0xfc000100},
  });
}

TEST_F(InstructionsTest, CopiesAndBarriersThatAreWaitedForLater) {
  Expect(
      {
          {"cp.async.cg.shared.global [tile], [table], 16; cp.async.wait_all; ld.shared.u32 %r0, [tile+8];", 7},
          {"mov.u32 %r3, 4; cp.async.ca.shared.global [tile+16], [table], 8, %r3; cp.async.commit_group;\n"
           "\tcp.async.wait_group 0; ld.shared.v2.u32 {%r4, %r5}, [tile+16]; mad.lo.u32 %r0, %r5, 10, %r4;",
           5},
          {"setp.eq.u32 %p0, %r1, %r1; cp.async.ca.shared.global [tile], [table], 4, %p0; cp.async.wait_all;\n"
           "\tld.shared.u32 %r0, [tile]; add.u32 %r0, %r0, 3;",
           3},
          {"setp.ne.u32 %p0, %r1, %r1; @%p0 cp.async.ca.shared.global [tile], [table+4], 4; cp.async.wait_all;\n"
           "\tld.shared.u32 %r0, [tile]; add.u32 %r0, %r0, 4;",
           4},
          {"cp.async.ca.shared.global [tile], [table+4], 4; ld.shared.u32 %r0, [tile]; cp.async.wait_all;", 0},
          {"mbarrier.init.shared.b64 [phase], 1; mbarrier.arrive.shared.b64 %rd1, [phase];\n"
           "\tmbarrier.test_wait.shared.b64 %p1, [phase], %rd1; mbarrier.pending_count.b64 %r3, %rd1;\n"
           "\tmbarrier.inval.shared.b64 [phase]; selp.b32 %r0, %r3, 99, %p1;",
           1},
          {"mov.u64 %rd2, phase; cvta.shared.u64 %rd2, %rd2; mbarrier.init.b64 [%rd2], 2;\n"
           "\tcp.async.ca.shared.global [tile], [table+12], 4; cp.async.mbarrier.arrive.noinc.b64 [%rd2];\n"
           "\tmbarrier.test_wait.parity.b64 %p1, [%rd2], 1; ld.shared.u32 %r0, [tile]; @!%p1 mov.u32 %r0, 99;",
           8},
          {"mov.u32 %r3, 5; bar.sync %r3; mov.u32 %r3, 32; barrier.sync 1, %r3; mov.u32 %r0, 3;", 3},
          {"setp.lt.u32 %p1, %r1, %r2; barrier.red.popc.u32 %r0, 2, 32, %p1;", 1},
          {"elect.sync %r3|%p1, -1; selp.b32 %r0, 7, 8, %p1;", 7},
          {"fence.proxy.async; fence.mbarrier_init.release.cluster; mov.u32 %r0, 2;", 2},
      },
      ".shared .align 16 .b32 tile[16];\n.shared .align 8 .b64 phase;\n.global .align 16 .u32 table[4] = {5, 6, 7, "
      "8};\n");
}

TEST_F(InstructionsTest, VectorRegistersAreTheirElements) {
  Expect({
      {"mov.u32 %r0, 3;", 3},
      {"mov.u32 %r0, 4;", 4},
      {"{ .reg .v2 .b32 %v; ld.global.v2.u32 %v, [%out]; mov.u32 %r0, %v.y; }", 4},
      {"{ .reg .v2 .b32 %v; mov.v2.u32 %v, {%r1, %r2}; mov.u32 %v.x, %v.y; mov.u32 %r0, %v.x; }", kB},
      {"{ .reg .v2 .b32 %v; mov.u32 %v.x, 5; mov.u32 %v.y, 7; mov.b64 %rd1, %v; shr.u64 %rd1, %rd1, 32; "
       "cvt.u32.u64 %r0, %rd1; }",
       7},
      {"{ .reg .v4 .u32 %v, %w; .shared .align 16 .b32 s[4]; mov.u32 %v.w, 9; st.shared.v4.u32 [s], %v; "
       "ld.shared.v4.u32 %w, [s]; mov.u32 %r0, %w.w; }",
       9},
  });
}

TEST_F(InstructionsTest, IntegersAtTheirEdges) {
  Expect({
      {"shl.b32 %r0, %r1, 32;", 0},
      {"mov.u32 %r3, 200; shr.s32 %r0, %r1, %r3;", 0xffffffff},
      {"mov.u32 %r3, 33; shr.u32 %r0, %r1, %r3;", 0},
      {"cvt.u16.u32 %h0, %r1; mov.u32 %r3, 17; shl.b16 %h1, %h0, %r3; cvt.u32.u16 %r0, %h1;", 0},
      {"bfe.s32 %r0, %r1, 28, 8;", 0xfffffff9},
      {"bfe.u32 %r0, %r1, 0, 32;", kA},
      {"bfe.s32 %r0, %r1, 4, 0;", 0},
      {"bfi.b32 %r0, %r1, %r2, 8, 4;", (kB & ~0xf00u) | (kA & 15) << 8},
      {"bfind.s32 %r0, -1;", 0xffffffff},
      {"bfind.s32 %r0, -9;", 3},
      {"bfind.shiftamt.u32 %r0, 16;", 27},
      {"fns.b32 %r0, 0xf0, 4, 2;", 5},
      {"fns.b32 %r0, 0xf0, 6, -3;", 4},
      {"fns.b32 %r0, 0xf0, 3, 0;", 0xffffffff},
      {"mov.b32 %r3, 0x80000000; mov.b32 %r4, -1; div.s32 %r0, %r3, %r4;", 0x80000000},
      {"abs.s32 %r0, 0x80000000;", 0x80000000},
      {"mad.hi.sat.s32 %r0, 0x7fffffff, 0x7fffffff, 0x7fffffff;", 0x7fffffff},
      {"mul24.hi.u32 %r0, %r1, %r2;", static_cast<uint32_t>(uint64_t{kA & 0xffffff} * (kB & 0xffffff) >> 16)},
      {"mul.wide.u16 %r0, 0xffff, 0xffff;", 0xfffe0001},
      {"szext.clamp.s32 %r0, 0x1ff, 9;", 0xffffffff},
      {"bmsk.clamp.b32 %r0, 4, 8;", 0xff0},
      {"prmt.b32.rc16 %r0, %r1, 0, 1;", (kA >> 16) * 0x10001},
      {"shf.l.clamp.b32 %r0, %r1, %r2, 40;", kA},
      {"dp2a.hi.s32.u32 %r0, 0x0002ffff, 0x03040506, 10;", 10 - 4 + 2 * 3},
      {"mov.b64 %rd1, {%r1, %r2}; mov.b64 {%r3, %r0}, %rd1;", kB},
      {"max.s16x2 %r0, 0x0001ffff, 0xffff0002;", 0x00010002},
      {"setp.lo.u32 %p0, 1, -1; selp.u32 %r0, 1, 2, %p0;", 1},
      {"setp.gt.and.u32 %p0|%p1, 3, 2, !%p3; selp.u32 %r0, 1, 2, %p0; @%p1 add.u32 %r0, %r0, 8;", 1},
      {"lop3.b32 %r0, %r1, %r2, 0x0f0f0f0f, 0x1e;", kA ^ (kB | 0x0f0f0f0f)},
  });
}

TEST_F(InstructionsTest, FloatingPoint) {
  const float tiny = 1e-40f, nan = std::numeric_limits<float>::quiet_NaN();
  const auto bits = [](float value) { return std::bit_cast<uint32_t>(value); };
  Expect({
      {absl::StrCat("add.ftz.f32 %f0, ", Hex(tiny), ", 0f00000000; mov.b32 %r0, %f0;"), 0},
      {absl::StrCat("add.f32 %f0, ", Hex(tiny), ", 0f00000000; mov.b32 %r0, %f0;"), bits(tiny)},
      {absl::StrCat("add.sat.f32 %f0, ", Hex(nan), ", 0f00000000; mov.b32 %r0, %f0;"), 0},
      {"add.rz.f32 %f0, 0f3f800000, 0f33800001; mov.b32 %r0, %f0;", 0x3f800000},
      {"add.rp.f32 %f0, 0f3f800000, 0f00000001; mov.b32 %r0, %f0;", 0x3f800001},
      {"min.f32 %f0, 0f80000000, 0f00000000; mov.b32 %r0, %f0;", 0x80000000},
      {absl::StrCat("max.f32 %f0, ", Hex(nan), ", 0f40000000; mov.b32 %r0, %f0;"), 0x40000000},
      {absl::StrCat("min.NaN.f32 %f0, ", Hex(nan),
                    ", 0f40000000; testp.notanumber.f32 %p0, %f0; "
                    "selp.u32 %r0, 1, 0, %p0;"),
       1},
      // Zero is a normal number to PTX.
      {"testp.normal.f32 %p0, 0f80000000; selp.u32 %r0, 1, 0, %p0;", 1},
      {"testp.normal.f32 %p0, 0f00000001; selp.u32 %r0, 1, 0, %p0;", 0},
      {"mov.b32 %r1, 0x00018001; mov.b32 %r2, 0; setp.ne.ftz.f16x2 %p0|%p1, %r1, %r2; selp.u32 %r0, 1, 0, %p0;", 0},
      {"mov.b32 %r1, 0x00018001; mov.b32 %r2, 0; setp.ne.f16x2 %p0|%p1, %r1, %r2; selp.u32 %r0, 1, 0, %p0;", 1},
      {"max.xorsign.abs.f32 %f0, 0fc0400000, 0f40000000; mov.b32 %r0, %f0;", 0xc0400000},
      {"cvt.rzi.s32.f32 %r0, 0f4f800000;", 0x7fffffff},
      {absl::StrCat("cvt.rni.s32.f32 %r0, ", Hex(nan), ";"), 0},
      {absl::StrCat("cvt.rni.s64.f32 %rd0, ", Hex(nan), "; shr.u64 %rd0, %rd0, 32; cvt.u32.u64 %r0, %rd0;"),
       0x80000000},
      {"cvt.rni.s32.f32 %r0, 0f40200000;", 2},
      {"cvt.rzi.u8.f32 %r0, 0f43960000;", 255},
      {"cvt.rm.f16.f32 %h0, 0f3f802001; cvt.u32.u16 %r0, %h0;", 0x3c01},
      {"cvt.rp.f16.f32 %h0, 0f3f802001; cvt.u32.u16 %r0, %h0;", 0x3c02},
      {"cvt.rz.f16.f32 %h0, 0f7f7fffff; cvt.u32.u16 %r0, %h0;", 0x7bff},
      {"cvt.rn.f16x2.f32 %r0, 0f40000000, 0f3f800000;", 0x40003c00},
      {"cvt.rn.bf16x2.f32 %r0, 0f40000000, 0f3f808000;", 0x40003f80},
      {"cvt.rna.tf32.f32 %r0, 0f3f801000;", 0x3f802000},
      {"fma.rn.f16x2 %r0, 0x3c004000, 0x3c004200, 0x00010000;", 0x3c004600},
      {"fma.rn.bf16 %h0, 0x3f81, 0x3f81, 0x0001; cvt.u32.u16 %r0, %h0;", 0x3f82},
      {"fma.rn.relu.f16 %h0, 0xbc00, 0x3c00, 0x0000; cvt.u32.u16 %r0, %h0;", 0},
      {"cvt.rn.f64.f32 %fd0, 0f3f800000; mov.b64 {%r3, %r0}, %fd0;", 0x3ff00000},
      {"rcp.approx.ftz.f64 %fd0, 0d4008000000000000; mov.b64 {%r0, %r3}, %fd0;", 0},
      {"ex2.approx.f32 %f0, 0f40400000; mov.b32 %r0, %f0;", bits(8)},
      {"copysign.f32 %f0, 0f80000000, 0f40000000; mov.b32 %r0, %f0;", 0xc0000000},
      {"set.gt.f32.f32 %f0, 0f40000000, 0f3f800000; mov.b32 %r0, %f0;", bits(1)},
      {"slct.u32.f32 %r0, 1, 2, 0f80000000;", 1},
      {absl::StrCat("slct.u32.f32 %r0, 1, 2, ", Hex(nan), ";"), 2},
  });
}

TEST_F(InstructionsTest, VideoInstructions) {
  Expect({
      {"vadd.s32.u32.s32.sat %r0, %r1.b0, %r2.h1;", static_cast<uint32_t>(0x78 + static_cast<int16_t>(0xdeed))},
      {"vsub.u32.u32.u32.sat %r0, 3, 5;", 0},
      {"vmax.u32.u32.u32 %r0.h1, 7, %r1.b1, %r2;", 0x56beef},
      {"vsub4.u32.u32.u32 %r0, 0x01020304, 0x01010101, 0;", 0x00010203},
      {"vadd2.s32.s32.s32.sat %r0, 0x7fff0001, 0x00010002, 0;", 0x7fff0003},
      {"vabsdiff4.u32.u32.u32.add %r0, 0x01020304, 0x04030201, 5;", 5 + 3 + 1 + 1 + 3},
      {"vset4.u32.u32.gt %r0, 0x05000500, 0x04010401, 0;", 0x01000100},
      {"vmad.u32.u32.u32 %r0, %r1.b0, %r1.b1, 7;", 0x78 * 0x56 + 7},
      {"vshl.u32.u32.u32.clamp %r0, %r1, 40;", 0},
  });
}

TEST_F(InstructionsTest, SpacesAddressesAndCalls) {
  const std::string module =
      ".global .align 4 .u32 table[4] = {7, 8, 9, 10};\n"
      ".global .align 8 .u64 pointer = generic(table)+4;\n"
      ".const .align 4 .b8 fixed[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
      ".shared .align 8 .b8 room[64];\n"
      ".func (.param .b32 sum) add(.param .b32 x, .param .b32 y)\n{\n\t.reg .b32 %r<4>;\n\tld.param.b32 %r0, [x];\n"
      "\tld.param.b32 %r1, [y];\n\tadd.u32 %r2, %r0, %r1;\n\tst.param.b32 [sum], %r2;\n\tret;\n}\n"
      ".func (.param .b32 sum) subtract(.param .b32 x, .param .b32 y)\n{\n\t.reg .b32 %r<4>;\n"
      "\tld.param.b32 %r0, [x];\n\tld.param.b32 %r1, [y];\n\tsub.u32 %r2, %r0, %r1;\n\tst.param.b32 [sum], %r2;\n"
      "\tret;\n}\n"
      ".func (.reg .u32 z) old(.reg .u32 x)\n{\n\tadd.u32 z, x, 1;\n\tret;\n}\n"
      ".extern .func (.param .b32 r) __nv_fabsf(.param .b32 x);\n"
      ".global .align 8 .u64 functions[2] = {add, subtract};\n";
  const auto indirect = [](int which) {
    return absl::StrCat(
        "{ .param .b32 p0; .param .b32 p1; .param .b32 q; st.param.b32 [p0], 50; st.param.b32 [p1], 8; ",
        "mov.u64 %rd1, functions; ld.global.u64 %rd2, [%rd1+", 8 * which, "]; ", "prototype_", which,
        ": .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _); ", "call (q), %rd2, (p0, p1), prototype_",
        which, "; ld.param.b32 %r0, [q]; }");
  };
  Expect(
      {
          {"ld.global.u32 %r0, [table+8];", 9},
          {"ld.global.u64 %rd1, [pointer]; ld.u32 %r0, [%rd1];", 8},
          {"ld.const.u8 %r0, [fixed+3];", 4},
          {"mov.u64 %rd1, fixed; ld.const.v2.u8 {%h0, %h1}, [%rd1+4]; cvt.u32.u16 %r0, %h1;", 6},
          {"mov.u32 %r3, room; st.shared.u32 [%r3+4], %r1; cvta.shared.u64 %rd1, 4; ld.u32 %r0, [%rd1];", kA},
          {"mov.u64 %rd1, room; st.shared.v2.u16 [%rd1], {%h0, %h0}; cvta.shared.u64 %rd2, %rd1; "
           "isspacep.shared %p0, %rd2; selp.u32 %r0, 1, 0, %p0;",
           1},
          {"st.shared.u32 [room], 5; atom.shared.add.u32 %r3, [room], 3; ld.shared.u32 %r0, [room];", 8},
          {"st.shared.u32 [room], 5; atom.shared.inc.u32 %r3, [room], 5; ld.shared.u32 %r0, [room];", 0},
          {"st.shared.u32 [room], 5; atom.shared.cas.b32 %r0, [room], 5, 9;", 5},
          {"st.shared.u32 [room], 0x3c003c00; red.shared.add.noftz.f16x2 [room], 0x40003c00; "
           "ld.shared.u32 %r0, [room];",
           0x42004000},
          {"st.shared.v4.u32 [room+16], {1, 2, 3, 4}; ld.shared.v4.u32 {_, %r3, %r4, %r0}, [room+16];", 4},
          {"st.shared.u16 [room], 0x8001; ld.shared.s16 %r0, [room];", 0xffff8001},
          {"{ .local .align 8 .b8 own[16]; mov.u64 %rd1, own; st.local.u32 [own+8], %r2; cvta.local.u64 %rd2, %rd1; "
           "ld.u32 %r0, [%rd2+8]; }",
           kB},
          {"{ .param .b32 p0; .param .b32 p1; .param .b32 q; st.param.b32 [p0], 40; st.param.b32 [p1], 2; "
           "call.uni (q), add, (p0, p1); ld.param.b32 %r0, [q]; }",
           42},
          {indirect(0), 58},
          {indirect(1), 42},
          {"call (%r0), old, (%r1);", kA + 1},
          {"{ .param .b32 p0; .param .b32 q; st.param.f32 [p0], 0fc0000000; call.uni (q), __nv_fabsf, (p0); "
           "ld.param.b32 %r0, [q]; }",
           0x40000000},
          {"mov.u32 %r3, 2; brx.idx %r3, targets; zero: mov.u32 %r0, 10; bra.uni done; one: mov.u32 %r0, 11; "
           "bra.uni done; two: mov.u32 %r0, 12; done: targets: .branchtargets zero, one, two;",
           12},
      },
      module);
}

}  // namespace
}  // namespace heddle::tracegen
