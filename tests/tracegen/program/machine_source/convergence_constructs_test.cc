// Threads of a warp that part and meet: what they exchange must not depend on the order in which they run, and their
// masks may be in registers. Each small kernel leaves the same memory from its PTX, where every exchange says who takes
// part, and from machine code, where mostly the code's convergence barriers do.
#include <array>

#include "tests/tracegen/program/machine_source/construct_fixture.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kLanes = 32;
// What the lanes of a warp hold.
using Lanes = std::array<uint32_t, kLanes>;

// Of each thread's warp: the lanes begin with their threads' numbers, and `run` is what they do.
std::function<std::vector<double>(uint32_t)> OfWarps(const std::function<void(Lanes&)>& run) {
  return [run](uint32_t t) {
    Lanes lanes;
    for (uint32_t lane = 0; lane < kLanes; ++lane) lanes[lane] = t / kLanes * kLanes + lane;
    run(lanes);
    return std::vector<double>{static_cast<double>(lanes[t % kLanes])};
  };
}

// Those who leave an iteration early come to the exchange at the head of the loop while others are at a later one.
TEST_F(MachineConstructsTest, AheadInALoopThreadsWaitForThoseBehind) {
  Both("", R"(
  mov.u32 %r4, %r0; mov.u32 %r5, 0;
L: .pragma "nounroll";
  shfl.sync.bfly.b32 %r6, %r4, 1, 31, 0xffffffff; and.b32 %r6, %r6, 255; add.u32 %r4, %r4, %r6;
  and.b32 %r7, %r0, 1; and.b32 %r8, %r5, 1; setp.eq.u32 %p0, %r7, %r8; @%p0 bra N;
  setp.eq.u32 %p1, %r8, 0; selp.b32 %r9, 0xaaaaaaaa, 0x55555555, %p1;
  shfl.sync.bfly.b32 %r6, %r4, 2, 31, %r9; and.b32 %r6, %r6, 255; add.u32 %r4, %r4, %r6;
N: add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 5; @%p2 bra L;
  st.global.u32 [%d], %r4;
)",
       OfWarps([](Lanes& v) {
         for (uint32_t i = 0; i < 5; ++i) {
           const Lanes head = v;
           for (uint32_t lane = 0; lane < kLanes; ++lane) v[lane] += head[lane ^ 1] & 255;
           const Lanes later = v;
           for (uint32_t lane = 0; lane < kLanes; ++lane) {
             if ((lane & 1) != (i & 1)) v[lane] += later[lane ^ 2] & 255;
           }
         }
       }));
}

// What the lanes of a mask have stored is there behind the meeting, whatever others still do.
TEST_F(MachineConstructsTest, MeetingsWaitForThoseWhoExchangeSomethingElse) {
  Both(".shared .align 4 .b8 words[256];\n", R"(
  shl.b32 %r4, %r0, 2; mov.u32 %r5, words; add.u32 %r4, %r4, %r5; xor.b32 %r6, %r4, 64; st.shared.u32 [%r4], %r0;
  bar.warp.sync 0xffffffff; and.b32 %r7, %r0, 16; setp.ne.u32 %p0, %r7, 0; @%p0 bra N;
  shfl.sync.bfly.b32 %r8, %r0, 1, 31, 0xffff; add.u32 %r8, %r8, 1000; st.shared.u32 [%r4], %r8;
N: bar.warp.sync 0xffffffff; ld.shared.u32 %r9, [%r6]; st.global.u32 [%d], %r9;
)",
       OfWarps([](Lanes& v) {
         const Lanes before = v;
         for (uint32_t lane = 0; lane < kLanes; ++lane) {
           v[lane] = (lane & 16) != 0 ? before[lane ^ 17] + 1000 : before[lane ^ 16];
         }
       }));
}

// Each tile has a mask of its own, in a register: votes see the tile, and not those who run beside it.
TEST_F(MachineConstructsTest, MasksInRegistersKeepTilesApart) {
  Both("", R"(
  and.b32 %r4, %r0, 24; mov.u32 %r5, 255; shl.b32 %r5, %r5, %r4; mov.u32 %r6, 0; and.b32 %r7, %r0, 8;
  setp.eq.u32 %p0, %r7, 0; @%p0 bra N;
  and.b32 %r8, %r0, 3; setp.eq.u32 %p1, %r8, 1; vote.sync.ballot.b32 %r6, %p1, %r5;
  shr.u32 %r9, %r0, 1; match.any.sync.b32 %r10, %r9, %r5; xor.b32 %r6, %r6, %r10;
N: st.global.u32 [%d], %r6;
)",
       OfWarps([](Lanes& v) {
         for (uint32_t lane = 0; lane < kLanes; ++lane) {
           const uint32_t tile = lane & 24;
           v[lane] = (lane & 8) == 0 ? 0 : (0x22u << tile) ^ (3u << (lane & 30));
         }
       }));
}

TEST_F(MachineConstructsTest, ReductionsOfPartsOfAWarp) {
  Both("", R"(
  and.b32 %r4, %r0, 16; setp.eq.u32 %p0, %r4, 0; selp.b32 %r5, 0xffff, 0xffff0000, %p0; mov.u32 %r6, %r0; mov.u32 %r7, 0;
L: .pragma "nounroll";
  redux.sync.add.u32 %r8, %r6, %r5; add.u32 %r6, %r6, %r8; and.b32 %r9, %r0, 1; setp.eq.u32 %p1, %r9, 0; @%p1 bra N;
  and.b32 %r10, %r5, 0xaaaaaaaa; redux.sync.xor.b32 %r8, %r6, %r10; add.u32 %r6, %r6, %r8;
N: add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, 3; @%p2 bra L;
  st.global.u32 [%d], %r6;
)",
       OfWarps([](Lanes& v) {
         for (uint32_t i = 0; i < 3; ++i) {
           for (uint32_t half = 0; half < kLanes; half += 16) {
             uint32_t sum = 0, odd = 0;
             for (uint32_t lane = half; lane < half + 16; ++lane) sum += v[lane];
             for (uint32_t lane = half; lane < half + 16; ++lane) v[lane] += sum;
             for (uint32_t lane = half + 1; lane < half + 16; lane += 2) odd ^= v[lane];
             for (uint32_t lane = half + 1; lane < half + 16; lane += 2) v[lane] += odd;
           }
         }
       }));
}

// Nobody waits for a lane that waits for them.
TEST_F(MachineConstructsTest, ALanePollsForWhatOthersDoBehindTheirExchange) {
  Both(".global .align 4 .u32 flag;\n", R"(
  and.b32 %r4, %r0, 31; setp.ne.u32 %p0, %r4, 0; @%p0 bra E; mov.u32 %r5, 7;
P: ld.volatile.global.u32 %r6, [flag]; setp.eq.u32 %p1, %r6, 0; @%p1 bra P; bra N;
E: shfl.sync.bfly.b32 %r5, %r0, 2, 31, 0xfffffffe; setp.ne.u32 %p2, %r4, 5; @%p2 bra N;
  mov.u32 %r7, 1; st.volatile.global.u32 [flag], %r7;
N: setp.eq.u32 %p3, %r4, 2; selp.b32 %r5, 0, %r5, %p3; st.global.u32 [%d], %r5;
)",
       OfWarps([](Lanes& v) {
         const Lanes before = v;
         for (uint32_t lane = 1; lane < kLanes; ++lane) v[lane] = lane == 2 ? 0 : before[lane ^ 2];
         v[0] = 7;
       }));
}

// A lane goes round until it has its own mask's answer; others have left the loop.
TEST_F(MachineConstructsTest, LanesLeaveALoopOfExchangesOneAfterTheOther) {
  Both("", R"(
  mov.u32 %r4, %r0; and.b32 %r5, %r0, 31; mov.u32 %r6, 0xffffffff; mov.u32 %r7, 0;
L: .pragma "nounroll";
  vote.sync.ballot.b32 %r8, 0x1, %r6;
  add.u32 %r4, %r4, %r8; setp.eq.u32 %p1, %r5, %r7; @%p1 bra N;
  add.u32 %r7, %r7, 1; mov.u32 %r9, 0xffffffff; shl.b32 %r6, %r9, %r7; bra L;
N: shfl.sync.bfly.b32 %r10, %r4, 1, 31, 0xffffffff; st.global.u32 [%d], %r10;
)",
       OfWarps([](Lanes& v) {
         Lanes sum = v;
         for (uint32_t lane = 0; lane < kLanes; ++lane) {
           for (uint32_t i = 0; i <= lane; ++i) sum[lane] += ~0u << i;
         }
         for (uint32_t lane = 0; lane < kLanes; ++lane) v[lane] = sum[lane ^ 1];
       }));
}

// Functions that call themselves, as deep as each thread wants. They keep their caller's barrier on the stack.
TEST_F(MachineConstructsTest, FunctionsCallThemselves) {
  Both(R"(
.func (.param .b32 r) fib(.param .b32 n) {
  .reg .b32 %x<4>; .reg .pred %q; ld.param.b32 %x0, [n]; setp.lt.u32 %q, %x0, 2; @%q bra END;
  sub.u32 %x1, %x0, 1;
  { .param .b32 a; .param .b32 g; st.param.b32 [a], %x1; call (g), fib, (a); ld.param.b32 %x2, [g]; }
  sub.u32 %x1, %x0, 2;
  { .param .b32 a; .param .b32 g; st.param.b32 [a], %x1; call (g), fib, (a); ld.param.b32 %x3, [g]; }
  add.u32 %x0, %x2, %x3;
END: st.param.b32 [r], %x0; ret;
}
.func (.param .b32 r) odd(.param .b32 n);
.func (.param .b32 r) even(.param .b32 n) {
  .reg .b32 %x<4>; .reg .pred %q; ld.param.b32 %x0, [n]; mov.u32 %x2, 1; setp.eq.u32 %q, %x0, 0; @%q bra END;
  sub.u32 %x1, %x0, 1;
  { .param .b32 a; .param .b32 g; st.param.b32 [a], %x1; call (g), odd, (a); ld.param.b32 %x2, [g]; }
  add.u32 %x2, %x2, 2;
END: st.param.b32 [r], %x2; ret;
}
.func (.param .b32 r) odd(.param .b32 n) {
  .reg .b32 %x<4>; .reg .pred %q; ld.param.b32 %x0, [n]; mov.u32 %x2, 0; setp.eq.u32 %q, %x0, 0; @%q bra END;
  sub.u32 %x1, %x0, 1;
  { .param .b32 a; .param .b32 g; st.param.b32 [a], %x1; call (g), even, (a); ld.param.b32 %x2, [g]; }
  add.u32 %x2, %x2, 2;
END: st.param.b32 [r], %x2; ret;
}
)",
       R"(
  and.b32 %r4, %r0, 7; mul.lo.u32 %r5, %r0, 9; mov.u32 %r9, 0; setp.eq.u32 %p0, %r4, 3; @%p0 bra N;
  { .param .b32 a; .param .b32 g; st.param.b32 [a], %r4; call (g), fib, (a); ld.param.b32 %r6, [g]; }
  { .param .b32 a; .param .b32 g; st.param.b32 [a], %r5; call (g), even, (a); ld.param.b32 %r7, [g]; }
  add.u32 %r9, %r6, %r7;
N: shfl.sync.bfly.b32 %r8, %r9, 1, 31, 0xffffffff; st.global.v2.u32 [%d], {%r9, %r8};
)",
       [](uint32_t t) {
         const uint32_t fibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13};
         const auto of = [&](uint32_t i) {
           return i % 8 == 3 ? 0.0 : fibonacci[i % 8] + 2.0 * 9 * i + (i % 2 == 0 ? 1 : 0);
         };
         return std::vector<double>{of(t), of(t ^ 1)};
       });
}

}  // namespace
}  // namespace heddle::tracegen
