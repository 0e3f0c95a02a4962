// Constructs of PTX as machine code of sm_80 and sm_90: each small kernel must leave the same memory from its PTX and
// from what the user's assembler makes of it. Without a toolkit, or without nvdisasm, all of it is skipped by name.
#include "absl/strings/str_replace.h"
#include "tests/tracegen/program/machine_source/construct_fixture.h"

namespace heddle::tracegen {
namespace {

TEST_F(MachineConstructsTest, SpecialRegisters) {
  Both(
      "", R"(
  mov.u32 %r4, %laneid; mov.u32 %r5, %lanemask_lt; mov.u32 %r6, %nctaid.x; mov.u32 %r7, %ntid.x;
  st.global.v4.u32 [%d], {%r4, %r5, %r6, %r7};
)",
      [](uint32_t t) {
        return std::vector<double>{static_cast<double>(t % 32), static_cast<double>((1u << t % 32) - 1), 2, kThreads};
      },
      2);
}

TEST_F(MachineConstructsTest, LocalMemoryByItsOwnAndByGenericAddresses) {
  Both("", R"(
  .local .align 16 .b8 array[64];
  and.b32 %r4, %r0, 15; mul.wide.u32 %e0, %r4, 4; mov.u64 %e1, array; add.u64 %e2, %e1, %e0;
  cvta.local.u64 %e3, %e1; add.u64 %e4, %e3, %e0;
  st.local.v4.u32 [array], {%r2, %r2, %r2, %r2}; st.local.u32 [%e2], %r0; ld.u32 %r5, [%e4];
  add.u32 %r6, %r0, 1; st.u32 [%e3+4], %r6; ld.local.u32 %r7, [array+4]; st.local.u8 [array+1], %r0;
  st.local.u16 [array+2], %r4; ld.local.u32 %r8, [array]; and.b32 %r8, %r8, 0xffffff00; ld.local.s8 %r9, [array+1];
  st.global.v4.u32 [%d], {%r5, %r7, %r8, %r9};
)",
       [](uint32_t t) {
         return std::vector<double>{static_cast<double>(t), static_cast<double>(t + 1),
                                    static_cast<double>((t & 15) << 16 | t << 8), static_cast<double>(t)};
       });
}

TEST_F(MachineConstructsTest, SharedMemoryByItsOwnAndByGenericAddresses) {
  Both(".shared .align 4 .b8 one[256];\n.shared .align 4 .b8 two[256];\n", R"(
  shl.b32 %r4, %r0, 2; mov.u32 %r5, one; add.u32 %r5, %r5, %r4; mov.u32 %r6, two; add.u32 %r6, %r6, %r4;
  st.shared.u32 [%r5], %r0; add.u32 %r7, %r0, 1000; st.shared.u32 [%r6], %r7; bar.sync 0;
  xor.b32 %r8, %r0, 63; mul.wide.u32 %e0, %r8, 4; mov.u64 %e1, one; cvta.shared.u64 %e1, %e1; add.u64 %e1, %e1, %e0;
  mov.u64 %e2, two; cvta.shared.u64 %e2, %e2; add.u64 %e2, %e2, %e0; ld.u32 %r9, [%e1]; ld.u32 %r10, [%e2];
  atom.shared.add.u32 %r11, [one], 0; bar.sync 0; atom.shared.max.s32 %r12, [one+4], %r0; bar.sync 0;
  ld.shared.u32 %r13, [one+4]; st.global.v4.u32 [%d], {%r9, %r10, %r11, %r13};
)",
       [](uint32_t t) {
         return std::vector<double>{static_cast<double>(t ^ 63), static_cast<double>((t ^ 63) + 1000), 0, 63};
       });
}

TEST_F(MachineConstructsTest, ConstantsAndTables) {
  Both(
      ".const .align 4 .u32 first[4] = {10, 11, 12, 13};\n.const .align 8 .u64 second[8] = {20, 21, 22, 23, 24, 25, "
      "26, "
      "27};\n.const .align 2 .u16 third[2] = {7, 65535};\n",
      R"(
  and.b32 %r4, %r0, 3; and.b32 %r5, %r0, 7; mul.wide.u32 %e0, %r4, 4; mul.wide.u32 %e1, %r5, 8;
  mov.u64 %e2, first; add.u64 %e2, %e2, %e0; ld.const.u32 %r6, [%e2]; mov.u64 %e3, second; add.u64 %e3, %e3, %e1;
  ld.const.u64 %e4, [%e3]; cvt.u32.u64 %r7, %e4; ld.const.u16 %h0, [third+2]; cvt.u32.u16 %r8, %h0;
  ld.const.u32 %r9, [first+8]; st.global.v4.u32 [%d], {%r6, %r7, %r8, %r9};
)",
      [](uint32_t t) {
        return std::vector<double>{static_cast<double>(10 + t % 4), static_cast<double>(20 + t % 8), 65535, 12};
      });
}

TEST_F(MachineConstructsTest, BranchesOverTables) {
  Both("", R"(
  and.b32 %r4, %r0, 3; mov.u32 %r5, 5;
table: .branchtargets A, B, C, D;
  brx.idx %r4, table;
A: add.u32 %r5, %r5, %r0; bra E;
B: mul.lo.u32 %r5, %r5, %r0; bra E;
C: sub.u32 %r5, %r0, %r5; st.global.u32 [%d+4], %r5; bra E;
D: xor.b32 %r5, %r5, %r0; st.global.u32 [%d+8], %r5;
E: st.global.u32 [%d], %r5;
)",
       [](uint32_t t) {
         const uint32_t got[] = {5 + t, 5 * t, t - 5, 5 ^ t};
         return std::vector<double>{static_cast<double>(got[t % 4]), t % 4 == 2 ? static_cast<double>(t - 5) : 0,
                                    t % 4 == 3 ? static_cast<double>(5 ^ t) : 0};
       });
}

TEST_F(MachineConstructsTest, AtomicOperationsOnGlobalMemory) {
  Both(".global .align 8 .u64 wide;\n.global .align 4 .u32 words[8];\n", R"(
  cvt.u64.u32 %e0, %r0; setp.ne.u32 %p0, %r0, 0; atom.global.max.u64 %e1, [wide], %e0;
  atom.global.or.b32 %r4, [words], %r0; red.global.and.b32 [words+4], %r0; atom.global.inc.u32 %r5, [words+8], 9;
  @%p0 atom.global.exch.b32 %r6, [words+12], %r0; red.global.add.u32 [words+16], 3; red.global.add.u32 [words+20], %r0;
  bar.sync 0; ld.global.u64 %e2, [wide]; cvt.u32.u64 %r7, %e2; ld.global.u32 %r8, [words]; ld.global.u32 %r9, [words+8];
  ld.global.u32 %r10, [words+16]; ld.global.u32 %r11, [words+20]; shl.b32 %r11, %r11, 16; add.u32 %r10, %r10, %r11;
  st.global.v4.u32 [%d], {%r7, %r8, %r9, %r10};
)",
       [](uint32_t) { return std::vector<double>{63, 63, 4, 192 + static_cast<double>(2016 << 16)}; });
}

TEST_F(MachineConstructsTest, CompareAndSwapUntilItSucceeds) {
  Both(".global .align 4 .u32 sum;\n", R"(
  ld.global.u32 %r4, [sum];
L: add.u32 %r5, %r4, %r0; atom.global.cas.b32 %r6, [sum], %r4, %r5; setp.ne.u32 %p0, %r6, %r4; mov.u32 %r4, %r6;
  @%p0 bra L;
  bar.sync 0; ld.global.u32 %r7, [sum]; st.global.u32 [%d], %r7;
)",
       [](uint32_t) { return std::vector<double>{2016}; });
}

TEST_F(MachineConstructsTest, AtomicOperationsThatTheAssemblerMakesLoopsOf) {
  Both(".shared .align 8 .f32 sum;\n.shared .align 8 .u64 wide;\n.global .align 4 .f32 total;\n", R"(
  .reg .f32 %f<4>; mov.f32 %f0, 0f3f800000; setp.ne.u32 %p0, %r0, 0; mov.u64 %e0, 3; mov.u64 %e5, 0;
  @!%p0 st.shared.f32 [sum], 0f00000000; @!%p0 st.shared.u64 [wide], %e5; bar.sync 0;
  atom.shared.add.f32 %f1, [sum], %f0; atom.shared.add.u64 %e1, [wide], %e0; red.global.add.f32 [total], %f0;
  bar.sync 0; ld.shared.f32 %f2, [sum]; ld.shared.u64 %e2, [wide]; ld.global.f32 %f3, [total];
  cvt.rzi.u32.f32 %r4, %f2; cvt.u32.u64 %r5, %e2; cvt.rzi.u32.f32 %r6, %f3;
  st.global.v4.u32 [%d], {%r4, %r5, %r6, %r6};
)",
       [](uint32_t) { return std::vector<double>{64, 192, 64, 64}; });
}

TEST_F(MachineConstructsTest, KindsOfMemory) {
  Both(".shared .align 4 .b8 array[64];\n", R"(
  .local .align 4 .b8 mine[16]; mov.u64 %e0, array; cvta.shared.u64 %e0, %e0; mov.u64 %e1, mine;
  cvta.local.u64 %e1, %e1; st.u32 [%e1], %r0; st.u32 [%e0], %r0; isspacep.shared %p0, %e0; isspacep.local %p1, %e1;
  isspacep.shared %p2, %e1; isspacep.local %p3, %d; selp.u32 %r4, 1, 0, %p0; selp.u32 %r5, 1, 0, %p1;
  selp.u32 %r6, 1, 0, %p2; selp.u32 %r7, 1, 0, %p3; st.global.v4.u32 [%d], {%r4, %r5, %r6, %r7};
)",
       [](uint32_t) { return std::vector<double>{1, 1, 0, 0}; });
}

TEST_F(MachineConstructsTest, ThreadsOfAWarpMeet) {
  Both("", R"(
  setp.gt.u32 %p0, %r0, 40; vote.sync.ballot.b32 %r4, %p0, 0xffffffff; vote.sync.all.pred %p1, %p0, 0xffffffff;
  shfl.sync.down.b32 %r5|%p2, %r0, 4, 31, 0xffffffff; selp.u32 %r6, 1, 0, %p1; selp.u32 %r7, 2, 0, %p2;
  add.u32 %r6, %r6, %r7; shr.u32 %r8, %r0, 3; match.any.sync.b32 %r9, %r8, 0xffffffff;
  redux.sync.add.u32 %r10, %r0, 0xffffffff; add.u32 %r10, %r10, %r9;
  st.global.v4.u32 [%d], {%r4, %r5, %r6, %r10};
)",
       [](uint32_t t) {
         const uint32_t ballot = t < 32 ? 0 : ~0u << 9;
         const bool in_range = t % 32 + 4 <= 31;
         const uint32_t sum = t < 32 ? 496 : 496 + 32 * 32;
         return std::vector<double>{static_cast<double>(ballot), static_cast<double>(in_range ? t + 4 : t),
                                    in_range ? 2.0 : 0.0, static_cast<double>(sum + (0xffu << t % 32 / 8 * 8))};
       });
}

// The assembler leaves a NOP of a bar.warp.sync where it knows that the warp is together.
TEST_F(MachineConstructsTest, WarpsThatAreTogetherExchangeWords) {
  Both(".shared .align 4 .b8 words[256];\n", R"(
  shl.b32 %r4, %r0, 2; mov.u32 %r5, words; add.u32 %r4, %r4, %r5; xor.b32 %r6, %r4, 4; xor.b32 %r7, %r4, 8;
  st.shared.u32 [%r4], %r0; bar.warp.sync 0xffffffff; ld.shared.u32 %r8, [%r6]; bar.warp.sync 0xffffffff;
  mul.lo.u32 %r8, %r8, 3; st.shared.u32 [%r4], %r8; bar.warp.sync 0xffffffff; ld.shared.u32 %r9, [%r7];
  st.global.v2.u32 [%d], {%r8, %r9};
)",
       [](uint32_t t) { return std::vector<double>{3.0 * (t ^ 1), 3.0 * (t ^ 3)}; });
  EXPECT_TRUE(reader_->programs().front().proto().uses_warp_operations());
}

TEST_F(MachineConstructsTest, ReductionsOfAWarp) {
  Both("", R"(
  or.b32 %r8, %r0, 64; redux.sync.and.b32 %r4, %r8, 0xffffffff; redux.sync.or.b32 %r5, %r0, 0xffffffff;
  mul.lo.u32 %r9, %r0, %r0; redux.sync.xor.b32 %r6, %r9, 0xffffffff;
  sub.u32 %r10, %r0, 40; redux.sync.min.s32 %r7, %r10, 0xffffffff;
  st.global.v4.u32 [%d], {%r4, %r5, %r6, %r7};
)",
       [](uint32_t t) {
         const uint32_t first = t / 32 * 32;
         uint32_t squares = 0;
         for (uint32_t i = first; i < first + 32; ++i) squares ^= i * i;
         return std::vector<double>{static_cast<double>(first + 64), static_cast<double>(first + 31),
                                    static_cast<double>(squares), static_cast<double>(first - 40)};
       });
}

TEST_F(MachineConstructsTest, PartsOfAWarpMeet) {
  Both("", R"(
  setp.lt.u32 %p0, %r0, 16; mov.u32 %r9, 0;
  and.b32 %r1, %r0, 31; setp.lt.u32 %p1, %r1, 10; @%p1 bra A;
  shfl.sync.bfly.b32 %r9, %r0, 1, 31, 0xfffffc00; vote.sync.ballot.b32 %r8, %p0, 0xfffffc00; bra E;
A: add.u32 %r4, %r0, 100; shfl.sync.bfly.b32 %r9, %r4, 1, 31, 0x3ff; vote.sync.ballot.b32 %r8, %p0, 0x3ff;
E: st.global.u32 [%d], %r9; st.global.u32 [%d+4], %r8;
)",
       [](uint32_t t) {
         const bool low = t % 32 < 10;
         const uint32_t ballot = t >= 32 ? 0 : low ? 0x3ff : 0xfc00;
         return std::vector<double>{static_cast<double>(low ? (t ^ 1) + 100 : t ^ 1), static_cast<double>(ballot)};
       });
}

TEST_F(MachineConstructsTest, BarriersThatReduce) {
  Both("", R"(
  setp.lt.u32 %p0, %r0, 20; bar.red.popc.u32 %r4, 0, %p0; bar.red.and.pred %p1, 0, %p0; bar.red.or.pred %p2, 0, %p0;
  selp.u32 %r5, 1, 0, %p1; selp.u32 %r6, 1, 0, %p2; bar.sync 3, 64; st.global.v4.u32 [%d], {%r4, %r5, %r6, %r5};
)",
       [](uint32_t) { return std::vector<double>{20, 0, 1, 0}; });
}

TEST_F(MachineConstructsTest, ThreadsEndEarlyAndCallsNest) {
  Both(R"(
.func (.param .b32 r) inner(.param .b32 a, .param .b32 b) {
  .reg .b32 %x<4>; ld.param.b32 %x0, [a]; ld.param.b32 %x1, [b]; mad.lo.u32 %x2, %x0, %x1, 7;
  st.param.b32 [r], %x2; ret;
}
.func (.param .b32 r) outer(.param .b32 a) {
  .reg .b32 %x<4>; .reg .pred %q; ld.param.b32 %x0, [a]; setp.eq.u32 %q, %x0, 9; @%q exit;
  add.u32 %x1, %x0, 3;
  { .param .b32 u; .param .b32 v; .param .b32 w; st.param.b32 [u], %x0; st.param.b32 [v], %x1;
    call (w), inner, (u, v); ld.param.b32 %x2, [w]; }
  add.u32 %x2, %x2, %x1; st.param.b32 [r], %x2; ret;
}
)",
       R"(
  setp.eq.u32 %p0, %r0, 7; @%p0 exit;
  { .param .b32 u; .param .b32 w; st.param.b32 [u], %r0; call (w), outer, (u); ld.param.b32 %r4, [w]; }
  st.global.u32 [%d], %r4;
)",
       [](uint32_t t) {
         return std::vector<double>{t == 7 || t == 9 ? 0.0 : static_cast<double>(t * (t + 3) + 7 + t + 3)};
       });
}

// A function is a section of its own, and reads what the launch has set as a kernel does.
TEST_F(MachineConstructsTest, FunctionsReadSizesAndAccessGlobalMemory) {
  Both(
      R"(
.global .align 4 .u32 words[64];
.visible .func (.param .b32 r) work(.param .b32 i) {
  .reg .b32 %x<6>; .reg .b64 %y<4>; ld.param.b32 %x0, [i]; mov.u32 %x1, %ntid.x; mov.u32 %x2, %nctaid.x;
  mul.wide.u32 %y0, %x0, 4; mov.u64 %y1, words; add.u64 %y0, %y0, %y1; st.global.u32 [%y0], %x1;
  ld.global.u32 %x3, [%y0]; add.u32 %x3, %x3, %x2; add.u32 %x3, %x3, %x0; st.param.b32 [r], %x3; ret;
}
)",
      R"(
  { .param .b32 u; .param .b32 w; st.param.b32 [u], %r0; call (w), work, (u); ld.param.b32 %r4, [w]; }
  st.global.u32 [%d], %r4;
)",
      [](uint32_t t) { return std::vector<double>{64 + 2 + static_cast<double>(t % 64)}; }, 2);
}

TEST_F(MachineConstructsTest, CallsUnderAGuard) {
  Both(R"(
.func note(.param .b64 to, .param .b32 i) {
  .reg .b32 %x<4>; .reg .b64 %y<2>; .reg .pred %q<2>; ld.param.b64 %y0, [to]; ld.param.b32 %x0, [i];
  setp.gt.u32 %q0, %x0, 50; @%q0 bra E; mul.lo.u32 %x1, %x0, %x0; st.global.u32 [%y0], %x1; ret;
E: st.global.u32 [%y0+4], %x0; ret;
}
)",
       R"(
  setp.gt.u32 %p0, %r0, 20; setp.lt.u32 %p1, %r0, 10; .param .b64 u; .param .b32 w;
  st.param.b64 [u], %d; st.param.b32 [w], %r0; @%p0 call note, (u, w);
  { .param .b64 u; .param .b32 w; st.param.b64 [u], %d; st.param.b32 [w], 5; @%p1 call note, (u, w); }
)",
       [](uint32_t t) {
         return t > 50   ? std::vector<double>{0, static_cast<double>(t)}
                : t > 20 ? std::vector<double>{static_cast<double>(t * t)}
                         : std::vector<double>{t < 10 ? 25.0 : 0.0};
       });
}

TEST_F(MachineConstructsTest, CallsThroughPointers) {
  Both(R"(
.func (.param .b32 r) one(.param .b32 a) {
  .reg .b32 %x<4>; ld.param.b32 %x0, [a]; add.u32 %x0, %x0, 1; st.param.b32 [r], %x0; ret;
}
.func (.param .b32 r) two(.param .b32 a) {
  .reg .b32 %x<4>; .reg .pred %q; ld.param.b32 %x0, [a]; setp.gt.u32 %q, %x0, 40; @%q bra E; mul.lo.u32 %x0, %x0, 7;
E: st.param.b32 [r], %x0; ret;
}
.func (.param .b32 r) three(.param .b32 a) {
  .reg .b32 %x<4>; .reg .b64 %y; ld.param.b32 %x0, [a]; cvt.u64.u32 %y, %x0; rem.u64 %y, %y, 5; cvt.u32.u64 %x1, %y;
  st.param.b32 [r], %x1; ret;
}
)",
       R"(
  mov.u64 %e1, one; mov.u64 %e2, two; mov.u64 %e3, three; rem.u32 %r5, %r0, 3; setp.eq.u32 %p0, %r5, 0;
  setp.eq.u32 %p1, %r5, 1; selp.b64 %e2, %e2, %e3, %p1; selp.b64 %e1, %e1, %e2, %p0;
P: .callprototype (.param .b32 _) _ (.param .b32 _);
  { .param .b32 u; .param .b32 w; st.param.b32 [u], %r0; call (w), %e1, (u), P; ld.param.b32 %r4, [w]; }
  st.global.u32 [%d], %r4;
)",
       [](uint32_t t) {
         return std::vector<double>{static_cast<double>(t % 3 == 0 ? t + 1 : t % 3 == 2 ? t % 5 : t > 40 ? t : 7 * t)};
       });
}

// Calls where threads have gone different ways keep barriers of the caller in registers.
TEST_F(MachineConstructsTest, BarriersOfCallersAreKept) {
  Both(R"(
.func (.param .b32 r) inner(.param .b32 i) {
  .reg .b32 %x<6>; .reg .pred %q<3>; ld.param.b32 %x0, [i]; mov.u32 %x1, 0; mov.u32 %x2, 0;
L: setp.ge.u32 %q0, %x2, %x0; @%q0 bra D; and.b32 %x3, %x2, 1; setp.eq.u32 %q1, %x3, 0; @%q1 bra EVEN;
  mul.lo.u32 %x1, %x1, 3; setp.gt.u32 %q2, %x1, 100000; @%q2 bra D; bra N;
EVEN: add.u32 %x1, %x1, %x2;
N: add.u32 %x2, %x2, 1; bra L;
D: st.param.b32 [r], %x1; ret;
}
.func (.param .b32 r) outer(.param .b32 i) {
  .reg .b32 %x<6>; .reg .pred %q<3>; ld.param.b32 %x0, [i]; and.b32 %x1, %x0, 3; mov.u32 %x3, 7;
  setp.eq.u32 %q0, %x1, 0; @%q0 bra E; setp.eq.u32 %q1, %x1, 1; @%q1 bra B;
  { .param .b32 u; .param .b32 w; st.param.b32 [u], %x0; call (w), inner, (u); ld.param.b32 %x3, [w]; } bra E;
B: { .param .b32 u; .param .b32 w; st.param.b32 [u], %x1; call (w), inner, (u); ld.param.b32 %x3, [w]; }
  add.u32 %x3, %x3, 1000;
E: add.u32 %x3, %x3, %x0; st.param.b32 [r], %x3; ret;
}
)",
       R"(
  and.b32 %r5, %r0, 15; setp.lt.u32 %p0, %r5, 12; mov.u32 %r4, 3; @!%p0 bra E;
  { .param .b32 u; .param .b32 w; st.param.b32 [u], %r5; call (w), outer, (u); ld.param.b32 %r4, [w]; }
  setp.gt.u32 %p1, %r4, 50; @%p1 bra E; add.u32 %r4, %r4, 11;
E: st.global.u32 [%d], %r4;
)",
       [](uint32_t t) {
         const auto inner = [](uint32_t n) {
           uint32_t sum = 0;
           for (uint32_t i = 0; i < n; ++i) {
             if (i % 2 == 0) {
               sum += i;
             } else {
               sum *= 3;
               if (sum > 100000) break;
             }
           }
           return sum;
         };
         const uint32_t n = t & 15;
         if (n >= 12) return std::vector<double>{3};
         const uint32_t which = n & 3;
         const uint32_t got = (which == 0 ? 7 : which == 1 ? inner(1) + 1000 : inner(n)) + n;
         return std::vector<double>{static_cast<double>(got > 50 ? got : got + 11)};
       });
}

TEST_F(MachineConstructsTest, ParametersOfAllWidths) {
  const std::string begin = absl::StrReplaceAll(
      kBegin, {{"(.param .u64 out)", "(.param .u64 out, .param .u8 a, .param .u16 b, .param .s8 c, .param .f64 d)"}});
  const std::string ptx = absl::StrCat(kHeader, begin, R"(
  ld.param.u8 %r4, [a]; ld.param.u16 %h0, [b]; cvt.u32.u16 %r5, %h0; ld.param.s8 %r6, [c];
  ld.param.f64 %e0, [d]; cvt.rzi.s32.f64 %r7, %e0; setp.ne.u32 %p0, %r4, 0; selp.u32 %r8, 1, 0, %p0;
  add.u32 %r4, %r4, %r8; st.global.v4.u32 [%d], {%r4, %r5, %r6, %r7}; ret;
}
)");
  std::string recipe =
      Recipe([](uint32_t) { return std::vector<double>{201, 60000, static_cast<double>(0xfffffffbu), 1234567}; }, 1);
  recipe = absl::StrReplaceAll(recipe, {{"argument { buffer: \"out\" }",
                                         "argument { buffer: \"out\" } argument { i8: -56 } argument { i16: -5536 } "
                                         "argument { i8: -5 } argument { f64: 1234567.5 }"}});
  Try(ptx, recipe, {"", "sm_80", "sm_90"});
}

// The assembler asks whether an address is of global memory, and has other code for the others.
TEST_F(MachineConstructsTest, AtomicOperationsOnGenericAddresses) {
  Both(".shared .align 8 .b8 block[64];\n.global .align 8 .b8 world[64];\n", R"(
  .reg .f32 %f<4>; .reg .f64 %g<4>; .local .align 8 .b8 own[16]; setp.eq.u32 %p0, %r0, 0; mov.u64 %e0, 0;
  @%p0 st.shared.u64 [block], %e0; @%p0 st.shared.u64 [block+8], %e0; @%p0 st.shared.u64 [block+16], %e0;
  st.local.u32 [own], 0; bar.sync 0; mov.f32 %f0, 0f3f800000; mov.f64 %g0, 0d4000000000000000;
  mov.u64 %e1, block; cvta.shared.u64 %e1, %e1; mov.u64 %e2, world; cvta.global.u64 %e2, %e2; mov.u64 %e3, own;
  cvta.local.u64 %e3, %e3; atom.add.f32 %f1, [%e1], %f0; atom.add.f32 %f1, [%e2], %f0; red.add.f64 [%e1+8], %g0;
  red.add.f64 [%e2+8], %g0; cvt.s64.s32 %e4, %r0; sub.s64 %e4, %e4, 40; atom.min.s64 %e5, [%e1+16], %e4;
  red.min.s64 [%e2+16], %e4; atom.add.f32 %f1, [%e3], %f0; atom.add.f32 %f2, [%e3], %f0; atom.add.u32 %r9, [%e1+24], 1;
  bar.sync 0; ld.shared.f32 %f1, [block]; ld.global.f32 %f3, [world]; add.f32 %f1, %f1, %f3; add.f32 %f1, %f1, %f2;
  cvt.rzi.u32.f32 %r4, %f1; ld.shared.f64 %g1, [block+8]; ld.global.f64 %g2, [world+8]; add.f64 %g1, %g1, %g2;
  cvt.rzi.u32.f64 %r5, %g1; ld.shared.u32 %r6, [block+16]; ld.global.u32 %r7, [world+16];
  st.global.v4.u32 [%d], {%r4, %r5, %r6, %r7};
)",
       [](uint32_t) {
         return std::vector<double>{129, 256, static_cast<double>(0u - 40), static_cast<double>(0u - 40)};
       });
}

TEST_F(MachineConstructsTest, AtomicSumsOfPairs) {
  Both(".global .align 4 .u32 pair;\n", R"(
  mov.u32 %r4, 0x3c004000; atom.global.add.noftz.f16x2 %r5, [pair], %r4; red.global.add.noftz.f16x2 [pair], %r4;
  bar.sync 0; ld.global.u32 %r6, [pair]; st.global.u32 [%d], %r6;
)",
       [](uint32_t) { return std::vector<double>{static_cast<double>(0x58005c00)}; });
}

TEST_F(MachineConstructsTest, BarriersAtWhichSomeOnlyArrive) {
  Both(".shared .align 4 .u32 word;\n", R"(
  setp.lt.u32 %p0, %r0, 32; @%p0 bra A; bar.sync 1, 64; ld.shared.u32 %r4, [word]; bra E;
A: mov.u32 %r4, 9; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [word], 77; bar.arrive 1, 64;
E: bar.sync 0; setp.gt.u32 %p2, %r0, 60; bar.red.popc.u32 %r5, 2, 64, %p2; bar.red.or.pred %p3, 3, %p2;
  selp.u32 %r6, 1, 0, %p3; st.global.v4.u32 [%d], {%r4, %r5, %r6, %r6};
)",
       [](uint32_t t) { return std::vector<double>{t < 32 ? 9.0 : 77.0, 3, 1, 1}; });
}

TEST_F(MachineConstructsTest, BarriersWhoseNumbersAreInRegisters) {
  Both(".shared .align 4 .u32 words[2];\n", R"(
  shr.u32 %r4, %r0, 5; add.u32 %r5, %r4, 1; add.u32 %r6, %r2, -32; shl.b32 %r7, %r4, 2; mov.u32 %r8, words;
  add.u32 %r7, %r7, %r8; and.b32 %r9, %r0, 31; setp.eq.u32 %p0, %r9, 0; @%p0 st.shared.u32 [%r7], %r5;
  bar.sync %r5, %r6; ld.shared.u32 %r10, [%r7]; bar.sync %r5, 32; bar.sync 7, %r2; setp.gt.u32 %p1, %r9, 28;
  bar.red.popc.u32 %r11, %r5, %r6, %p1;
  st.global.v2.u32 [%d], {%r10, %r11};
)",
       [](uint32_t t) { return std::vector<double>{t < 32 ? 1.0 : 2.0, 3}; });
}

TEST_F(MachineConstructsTest, CountersAndSizesOfTheLaunch) {
  Both(".shared .align 4 .b8 block[96];\n", R"(
  mov.u32 %r4, %nwarpid; setp.gt.u32 %p0, %r4, 1; mov.u32 %r5, %clock; mov.u32 %r6, %clock; sub.u32 %r5, %r6, %r5;
  setp.gt.s32 %p1, %r5, 0; mov.u32 %r7, %warpid; mov.u32 %r8, %dynamic_smem_size; st.shared.u32 [block+92], %r7;
  ld.shared.u32 %r7, [block+92]; selp.u32 %r4, 1, 0, %p0; selp.u32 %r5, 2, 0, %p1; add.u32 %r4, %r4, %r5;
  mov.u32 %r9, %nsmid; min.u32 %r9, %r9, 1; st.global.v4.u32 [%d], {%r4, %r7, %r8, %r9};
)",
       [](uint32_t t) { return std::vector<double>{3, static_cast<double>(t / 32), 0, 1}; });
}

TEST_F(MachineConstructsTest, OneThreadIsElected) {
  Sm90("", R"(
  and.b32 %r5, %r0, 31; setp.lt.u32 %p1, %r5, 4; mov.u32 %r6, 0; mov.u32 %r4, 99; @%p1 bra E;
  elect.sync %r4|%p0, 0xfffffff0; selp.u32 %r6, 1, 0, %p0;
E: st.global.v2.u32 [%d], {%r4, %r6};
)",
       [](uint32_t t) { return std::vector<double>{t % 32 < 4 ? 99.0 : 4.0, t % 32 == 4 ? 1.0 : 0.0}; });
}

// Addresses of shared memory name the block by its rank in the cluster.
TEST_F(MachineConstructsTest, BlocksOfAClusterReachOneAnother) {
  const std::string begin =
      absl::StrReplaceAll(kBegin, {{"(.param .u64 out) {", "(.param .u64 out) .reqnctapercluster 2 {"}});
  const std::string ptx = absl::StrCat(kHeader90, ".shared .align 4 .u32 words[64];\n", begin, R"(
  mov.u32 %r4, %cluster_ctarank; mad.lo.u32 %r5, %r4, 1000, %r0; mov.u32 %r6, words; shl.b32 %r7, %r0, 2;
  add.u32 %r6, %r6, %r7; st.shared.u32 [%r6], %r5; barrier.cluster.arrive; barrier.cluster.wait;
  xor.b32 %r8, %r4, 1; mapa.shared::cluster.u32 %r9, %r6, %r8; ld.shared::cluster.u32 %r10, [%r9];
  cvt.u64.u32 %e0, %r6; cvta.shared.u64 %e0, %e0; ld.u32 %r11, [%e0]; mov.u32 %r12, %cluster_nctarank;
  barrier.cluster.arrive; barrier.cluster.wait; isspacep.shared %p0, %e0; selp.u32 %r13, 1, 0, %p0;
  add.u32 %r12, %r12, %r13; st.global.v4.u32 [%d], {%r10, %r11, %r4, %r12}; ret;
}
)");
  const auto words = [](uint32_t t) {
    const uint32_t rank = t / 64 % 2;
    return std::vector<double>{static_cast<double>((1 - rank) * 1000 + t % 64),
                               static_cast<double>(rank * 1000 + t % 64), static_cast<double>(rank), 3};
  };
  Try(ptx, Recipe(words, 4), {"", "sm_90"});
}

TEST_F(MachineConstructsTest, WhatHasNoMeaningIsRefusedWithItsPlace) {
  options_.machine_code = true;
  const std::string begin = absl::StrCat(kHeader, kBegin);
  Fails(begin + "  .shared .align 8 .b64 barrier; cp.async.mbarrier.arrive.noinc.shared.b64 [barrier]; ret; }\n",
        Recipe([](uint32_t) { return std::vector<double>{}; }, 1), {"kernel.ptx: k+0x", "ARRIVES"}, "ptx");
  Fails("not PTX", Recipe([](uint32_t) { return std::vector<double>{}; }, 1), {"kernel.ptx: PTX line 1"}, "ptx");
  options_.machine_level.architecture = "sm_1";
  Fails(begin + "  ret; }\n", Recipe([](uint32_t) { return std::vector<double>{}; }, 1),
        {"machine code of 'sm_1' cannot be read"}, "ptx");
}

}  // namespace
}  // namespace heddle::tracegen
