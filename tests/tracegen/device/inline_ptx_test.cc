// Inline PTX: the statements that programs use are recorded as they are written, and compute what PTX says.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "tests/tracegen/device/inline_ptx_fixture.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kA = 0x9234'5678, kB = 0xdeed'beef;  // the fixture's

uint32_t Permute(uint32_t a, uint32_t b, uint32_t selectors) {
  const uint64_t both = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) result |= static_cast<uint32_t>(both >> 8 * (selectors >> 4 * i & 7) & 255) << 8 * i;
  return result;
}

// Byte i of a word, as a signed number.
int Signed(uint32_t word, int i) { return static_cast<int8_t>(word >> 8 * i); }
int Unsigned(uint32_t word, int i) { return static_cast<uint8_t>(word >> 8 * i); }

// A word whose bytes are those of two words, combined.
template <typename Function>
uint32_t Bytes(Function function) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word |= static_cast<uint32_t>(function(i) & 255) << 8 * i;
  return word;
}

TEST_F(InlinePtxTest, BitsAndFields) {
  const std::string two = R"( : "=r"(r) : "r"(a), "r"(b))";
  Expect({
      {R"("bfe.u32 %0, %1, 4, 12;" : "=r"(r) : "r"(a))", kA >> 4 & 0xfff},
      {R"("bfe.s32 %0, %1, 28, 8;" : "=r"(r) : "r"(a))", 0xfffffff9},
      {R"("bfe.u32 %0, %1, 0, 32;" : "=r"(r) : "r"(a))", kA},
      {"\"bfi.b32 %0, %1, %2, 8, 4;\"" + two, (kB & ~0xf00u) | (kA & 15) << 8},
      {"\"prmt.b32 %0, %1, %2, 0x5410;\"" + two, Permute(kA, kB, 0x5410)},
      {"\"lop3.b32 %0, %1, %2, 0x0f0f0f0f, 0x96;\"" + two, kA ^ kB ^ 0x0f0f0f0f},
      {"\"lop3.b32 %0, %1, %2, 0x0f0f0f0f, 0xca;\"" + two, (kA & kB) | (~kA & 0x0f0f0f0f)},
      {"\"shf.l.wrap.b32 %0, %1, %2, 36;\"" + two, kB << 4 | kA >> 28},
      {"\"shf.r.clamp.b32 %0, %1, %2, 40;\"" + two, kB},
      {R"("brev.b32 %0, %1;" : "=r"(r) : "r"(a))", 0x1e6a2c49},
      {R"("popc.b32 %0, %1;" : "=r"(r) : "r"(a))", static_cast<uint32_t>(std::popcount(kA))},
      {R"("clz.b32 %0, 0;" : "=r"(r))", 32},
      {R"("bfind.u32 %0, %1;" : "=r"(r) : "r"(a >> 8))", 23},
      {R"("shl.b32 %0, %1, 33;" : "=r"(r) : "r"(a))", 0},
      {R"("shr.s32 %0, %1, 99;" : "=r"(r) : "r"(a))", 0xffffffff},
  });
}

TEST_F(InlinePtxTest, CarriesProductsAndConversions) {
  const uint64_t product = uint64_t{kA} * kB;
  Expect({
      {R"("{ .reg .u32 low; add.cc.u32 low, %1, %2; addc.u32 %0, 10, 20; }" : "=r"(r) : "r"(a), "r"(b))", 31},
      {R"("{ .reg .u32 low; sub.cc.u32 low, %1, %2; subc.u32 %0, 10, 0; }" : "=r"(r) : "r"(a), "r"(b))", 9},
      {R"("{ .reg .u32 low; mad.lo.cc.u32 low, %1, %2, %2; madc.hi.u32 %0, %1, %2, 0; }" : "=r"(r) : "r"(a), "r"(b))",
       static_cast<uint32_t>((product + kB) >> 32)},
      {R"("mul.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b))", static_cast<uint32_t>(product >> 32)},
      {R"("mul24.lo.u32 %0, %1, 3;" : "=r"(r) : "r"(a))", (kA & 0xffffff) * 3},
      {R"("{ .reg .u64 w; mul.wide.u32 w, %1, %2; mov.b64 {%0, _}, w; }" : "=r"(r) : "r"(a), "r"(b))",
       static_cast<uint32_t>(product)},
      {R"("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(2.5f))", 2},
      {R"("{ .reg .f32 f; add.rz.f32 f, %1, 0f30800000; mov.b32 %0, f; }" : "=r"(r) : "f"(1.0f))", 0x3f800000},
      {R"("{ .reg .pred p; setp.lt.and.u32 p, %1, %2, 1; selp.u32 %0, 7, 9, p; }" : "=r"(r) : "r"(a), "r"(b))", 7},
      {R"("sad.u32 %0, %1, %2, 5;" : "=r"(r) : "r"(a), "r"(b))", kB - kA + 5},
      {R"("min.s32 %0, %1, 4;" : "=r"(r) : "r"(a))", kA},
  });
}

TEST_F(InlinePtxTest, RegistersOfTheMachineAndLanesThatMeet) {
  Expect(
      {
          {R"("mov.u32 %0, %%ntid.x;" : "=r"(r))", 40},
          {R"("mov.u32 %0, %%lanemask_ge;" : "=r"(r))", 0xffffffff},
          {R"("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(r) : "r"(t & 1))",
           0xaaaaaaaa},
          {R"("shfl.sync.down.b32 %0, %1, 3, 0x1f, 0xffffffff;" : "=r"(r) : "r"(t * t))", 9},
          {R"("bar.sync 0;")", 0},
          {R"("membar.gl;" ::: "memory")", 0},
          {R"("" ::: "memory")", 0},
      },
      40);
  EXPECT_EQ(Count(trace::v1::OP_WARP), 2);
  EXPECT_EQ(Count(trace::v1::OP_BARRIER), 1);
  EXPECT_EQ(Count(trace::v1::OP_FENCE), 1);
}

TEST_F(InlinePtxTest, MemoryWithCacheOperatorsIsRecordedWithItsAddresses) {
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int cells[4];
  int t = threadIdx.x, a, b;
  cells[t] = 10 * t;
  __syncthreads();
  unsigned cell = (unsigned)__cvta_generic_to_shared(&cells[t]);
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(cell ^ 4));
  asm volatile("st.global.cs.u32 [%0+16], %1;" :: "l"(out + t), "r"(a) : "memory");
  asm volatile("ld.global.cg.u32 %0, [%1+16];" : "=r"(b) : "l"(out + t));
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(a) : "l"(out), "r"(b));
})",
           IntRecipe(1, 4, {60, 0, 0, 0, 10, 0, 30, 20}));
  const std::vector<std::vector<uint64_t>> addresses = Addresses();
  ASSERT_EQ(addresses.size(), 4);
  for (uint64_t t = 0; t < 4; ++t) {
    const uint64_t out = 0x2000'0000'0200, shared = 0x2100'0000'0000;
    EXPECT_THAT(addresses[t],
                ::testing::ElementsAre(shared + 4 * t, shared + 4 * (t ^ 1), out + 16 + 4 * t, out + 16 + 4 * t, out));
  }
  bool streams = false;
  const trace::Program& program = reader_->programs()[0];
  for (trace::Pc pc : program.accesses()) streams = streams || program.instruction(pc).mnemonic() == "st.global.cs.u32";
  EXPECT_TRUE(streams);
}

TEST_F(InlinePtxTest, DotProductsAndLanes) {
  const std::string two = R"( : "=r"(r) : "r"(a), "r"(b), "r"(7))";
  int dot_signed = 7, dot_mixed = 7, sum = 7;
  uint32_t dot_unsigned = 7;
  for (int i = 0; i < 4; ++i) {
    dot_signed += Signed(kA, i) * Signed(kB, i);
    dot_unsigned += Unsigned(kA, i) * Unsigned(kB, i);
    dot_mixed += Unsigned(kA, i) * Signed(kB, i);
    sum += std::abs(Unsigned(kA, i) - Unsigned(kB, i));
  }
  const auto low = static_cast<int16_t>(kA & 0xffff), high = static_cast<int16_t>(kA >> 16);
  auto clamp = [](int value, int least, int most) { return std::clamp(value, least, most); };
  Expect({
      {"\"dp4a.s32.s32 %0, %1, %2, %3;\"" + two, static_cast<uint32_t>(dot_signed)},
      {"\"dp4a.u32.u32 %0, %1, %2, %3;\"" + two, dot_unsigned},
      {"\"dp4a.u32.s32 %0, %1, %2, %3;\"" + two, static_cast<uint32_t>(dot_mixed)},
      {"\"dp2a.lo.s32.s32 %0, %1, %2, %3;\"" + two,
       static_cast<uint32_t>(low * Signed(kB, 0) + high * Signed(kB, 1) + 7)},
      {"\"dp2a.hi.u32.u32 %0, %1, %2, %3;\"" + two, (kA & 0xffff) * Unsigned(kB, 2) + (kA >> 16) * Unsigned(kB, 3) + 7},
      {"\"vadd4.u32.u32.u32 %0, %1, %2, %3;\"" + two, Bytes([](int i) { return Unsigned(kA, i) + Unsigned(kB, i); })},
      {"\"vadd4.u32.u32.u32.sat %0, %1, %2, %3;\"" + two,
       Bytes([&](int i) { return clamp(Unsigned(kA, i) + Unsigned(kB, i), 0, 255); })},
      {"\"vsub4.s32.s32.s32.sat %0, %1, %2, %3;\"" + two,
       Bytes([&](int i) { return clamp(Signed(kA, i) - Signed(kB, i), -128, 127); })},
      {"\"vsub4.u32.u32.u32.sat %0, %1, %2, %3;\"" + two,
       Bytes([&](int i) { return clamp(Unsigned(kA, i) - Unsigned(kB, i), 0, 255); })},
      {"\"vavrg4.s32.s32.s32 %0, %1, %2, %3;\"" + two,
       Bytes([](int i) { return (Signed(kA, i) + Signed(kB, i) + (Signed(kA, i) + Signed(kB, i) >= 0)) >> 1; })},
      {"\"vabsdiff4.u32.u32.u32 %0, %1, %2, %3;\"" + two,
       Bytes([](int i) { return std::abs(Unsigned(kA, i) - Unsigned(kB, i)); })},
      {"\"vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;\"" + two, static_cast<uint32_t>(sum)},
      {"\"vmin4.s32.s32.s32 %0, %1, %2, %3;\"" + two,
       Bytes([](int i) { return std::min(Signed(kA, i), Signed(kB, i)); })},
      {"\"vmax2.u32.u32.u32 %0, %1, %2, %3;\"" + two, 0xdeedbeef},
      {"\"vset4.s32.s32.gt %0, %1, %2, %3;\"" + two,
       Bytes([](int i) { return Signed(kA, i) > Signed(kB, i) ? 1 : 0; })},
      // The forms of prmt with a mode (PTX ISA, prmt): bytes of {b, a} from 1 on, forwards and backwards, and so on.
      {"\"prmt.b32.f4e %0, %1, %2, 1;\"" + two, Permute(kA, kB, 0x4321)},
      {"\"prmt.b32.b4e %0, %1, %2, 1;\"" + two, Permute(kA, kB, 0x6701)},
      {"\"prmt.b32.rc8 %0, %1, %2, 2;\"" + two, Permute(kA, kB, 0x2222)},
      {"\"prmt.b32.ecl %0, %1, %2, 1;\"" + two, Permute(kA, kB, 0x3211)},
      {"\"prmt.b32.ecr %0, %1, %2, 2;\"" + two, Permute(kA, kB, 0x2210)},
      {"\"prmt.b32.rc16 %0, %1, %2, 7;\"" + two, Permute(kA, kB, 0x3232)},
  });
  EXPECT_EQ(Count(trace::v1::OP_INT_MUL), 5);
}

TEST_F(InlinePtxTest, PredicatesSaturationAndSubnormalNumbers) {
  Expect({
      {R"("{ .reg .pred p; setp.gt.u32 p, %1, 5; @p add.u32 %0, %1, 1; @!p mov.u32 %0, 9; }" : "=r"(r) : "r"(a))",
       kA + 1},
      {R"("{ .reg .pred p; setp.lt.u32 p, %1, 5; @p add.u32 %0, %0, 1; }" : "+r"(r) : "r"(a))", 0},
      {R"("{ .reg .pred p, q; setp.eq.and.u32 p|q, %1, %1, 0; selp.u32 %0, 1, 0, q; }" : "=r"(r) : "r"(a))", 0},
      {R"("slct.u32.s32 %0, 3, 4, %1;" : "=r"(r) : "r"(a))", 4},
      {R"("mov.u32 %0, 0x10; add.u32 %0, %0, 010; add.u32 %0, %0, 0b10;" : "=r"(r))", 26},
      {R"("cvt.sat.u8.s32 %0, %1;" : "=r"(r) : "r"(a))", 0},
      {R"("cvt.sat.s8.s32 %0, %1;" : "=r"(r) : "r"(a))", 0xffffff80},
      {R"("cvt.s8.s32 %0, 0x180;" : "=r"(r))", 0xffffff80},
      {R"("cvt.rzi.s16.f32 %0, 0fC1F00000;" : "=r"(r))", 0xffffffe2},
      {R"("cvt.rpi.s32.f32 %0, 0f00000001;" : "=r"(r))", 1},
      {R"("cvt.rpi.ftz.s32.f32 %0, 0f00000001;" : "=r"(r))", 0},
      {R"("{ .reg .f32 f; cvt.rn.sat.f32.f64 f, %1; mov.b32 %0, f; }" : "=r"(r) : "d"(1.5))", 0x3f800000},
      {R"("{ .reg .f32 f; cvt.rz.f32.f64 f, %1; mov.b32 %0, f; }" : "=r"(r) : "d"(0x1.ffffffp0))", 0x3fffffff},
      {R"("{ .reg .f32 f; abs.ftz.f32 f, 0f80000001; mov.b32 %0, f; }" : "=r"(r))", 0},
      {R"("{ .reg .f32 f; abs.f32 f, 0f80000001; mov.b32 %0, f; }" : "=r"(r))", 1},
      {R"("{ .reg .pred p; setp.lt.ftz.f32 p, 0f00000000, 0f00000001; selp.u32 %0, 1, 0, p; }" : "=r"(r))", 0},
      {R"("{ .reg .f32 f; tanh.approx.f32 f, 0f00000000; mov.b32 %0, f; }" : "=r"(r))", 0},
      {R"("{ .reg .u64 w; cvta.shared.u64 w, %1; shr.u64 w, w, 32; cvt.u32.u64 %0, w; }" : "=r"(r) : "l"(12ull))",
       0x2100},
  });
}

TEST_F(InlinePtxTest, WarpsReduceMatchAndScan) {
  Expect(
      {
          {R"("redux.sync.add.s32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(t))", 31 * 16},
          {R"("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(a + t))", kA + 31},
          {R"("redux.sync.or.b32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(t))", 31},
          {R"("{ .reg .pred p; match.all.sync.b32 %0|p, %1, 0xffffffff; }" : "=r"(r) : "r"(b))", 0xffffffff},
          {R"("{ .reg .pred p; setp.lt.u32 p, %1, 10; bar.red.popc.u32 %0, 0, p; }" : "=r"(r) : "r"(t))", 10},
          // A step of a scan, as libraries have it: the sum is taken only from lanes that are there.
          {R"("{ .reg .u32 n; .reg .pred p; shfl.sync.up.b32 n|p, %1, 1, 0x0, 0xffffffff; @p add.u32 n, n, %1; )"
           R"(mov.u32 %0, n; }" : "=r"(r) : "r"(t + 5))",
           5},
      },
      32, "sm_80");
}

TEST_F(InlinePtxTest, LoadsMayNameCachesOfNewerDevices) {
  Succeeds(R"(
__global__ void k(int* out) {
  int a, b;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.u32 %0, [%1];" : "=r"(a) : "l"(out + 1));
  asm volatile("ldu.global.u32 %0, [%1];" : "=r"(b) : "l"(out + 2));
  out[0] = a + b;
})",
           absl::StrCat("buffer { name: \"out\" type: I32 count: 3 fill { iota { start: 5 } } }\n"
                        "launch { kernel: \"k\" block { x: 1 } argument { buffer: \"out\" } }\n"
                        "check { buffer: \"out\" expected { ",
                        Values({13, 6, 7}), " } }\n"));
}

}  // namespace
}  // namespace heddle::tracegen
