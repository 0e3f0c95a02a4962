// Inline PTX: the statements that programs use are recorded as they are written, and compute what PTX says.
#include <bit>

#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kA = 0x9234'5678, kB = 0xdeed'beef;

uint32_t Permute(uint32_t a, uint32_t b, uint32_t selectors) {
  const uint64_t both = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) result |= static_cast<uint32_t>(both >> 8 * (selectors >> 4 * i & 7) & 255) << 8 * i;
  return result;
}

class InlinePtxTest : public CaptureTest {
 protected:
  // One thread of `threads` evaluates each statement; a statement sets r from a and b (unsigned), t is the thread.
  void Expect(const std::vector<std::pair<std::string, uint32_t>>& statements, uint32_t threads = 1) {
    std::string source = "__global__ void k(unsigned* out, unsigned a, unsigned b) {\n  unsigned r, t = threadIdx.x;\n";
    std::vector<double> expected;
    for (const auto& [statement, value] : statements) {
      absl::StrAppend(&source, "  r = 0; asm volatile(", statement, "); if (t == 0) out[", expected.size(), "] = r;\n");
      expected.push_back(value);
    }
    source += "}\n";
    const std::string recipe = absl::StrCat(
        "buffer { name: \"out\" type: U32 count: ", expected.size(), " fill { zeros {} } }\n",
        "launch { kernel: \"k\" block { x: ", threads, " } argument { buffer: \"out\" } argument { u32: ", kA,
        " } argument { u32: ", kB, " } }\ncheck { buffer: \"out\" expected { ", Values(expected), " } }\n");
    Succeeds(source, recipe);
  }
};

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

TEST_F(InlinePtxTest, WhatIsNotKnownIsRefusedWithItsLine) {
  Fails("__global__ void k(int* out) {\n  asm(\"vadd.u32.u32.u32 %0, %0, %0;\" : \"+r\"(out[0]));\n}",
        IntRecipe(1, 1, {0}), {"kernel.cu:2", "inline PTX", "vadd"});
  Fails(
      "__global__ void k(int* out) {\n  asm(\"{ .reg .pred p; setp.eq.u32 p, %0, 0; @p add.u32 %0, %0, 1; }\" : "
      "\"+r\"(out[0]));\n}",
      IntRecipe(1, 1, {0}), {"kernel.cu:2", "predicated"});
}

}  // namespace
}  // namespace heddle::tracegen
