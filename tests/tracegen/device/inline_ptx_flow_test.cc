// Inline PTX with control flow, several accesses, variables and guards: what it computes, and what the trace has of it.
#include "tests/tracegen/device/inline_ptx_fixture.h"

namespace heddle::tracegen {
namespace {

using InlinePtxFlowTest = InlinePtxTest;

// The mnemonics of a program, in its order.
std::vector<std::string> Mnemonics(const trace::Program& program) {
  std::vector<std::string> all;
  for (uint32_t pc = 0; pc < program.instruction_count(); ++pc) all.emplace_back(program.instruction(pc).mnemonic());
  return all;
}

TEST_F(InlinePtxFlowTest, LoopsBranchesAndTables) {
  Expect({
      {R"("{ .reg .pred p; .reg .u32 i; mov.u32 i, 0; mov.u32 %0, 0;\n"
          "L: add.u32 %0, %0, i; add.u32 i, i, 1; setp.lt.u32 p, i, %1; @p bra L; }" : "=r"(r) : "r"(a & 15))",
       28},
      {R"("{ .reg .pred p; setp.gt.u32 p, %1, %2; @p bra.uni MORE; mov.u32 %0, 1; bra DONE; MORE: mov.u32 %0, 2;\n"
          "DONE: }" : "=r"(r) : "r"(a), "r"(b))",
       1},
      {R"("{ .reg .pred p; setp.ne.u32 p, %1, 0; @!p bra OUT; add.u32 %0, %0, 5; bra OUT; OUT: add.u32 %0, %0, 2; }"
          : "+r"(r) : "r"(a))",
       7},
      // Several targets, and a loop around them.
      {R"("{ .reg .pred p; .reg .u32 i; mov.u32 i, 0; T: .branchtargets A, B, C;\n"
          "NEXT: brx.idx i, T; A: add.u32 %0, %0, 1; bra JOIN; B: add.u32 %0, %0, 10; bra JOIN;\n"
          "C: add.u32 %0, %0, 100; JOIN: add.u32 i, i, 1; setp.lt.u32 p, i, 3; @p bra NEXT; }" : "+r"(r))",
       111},
  });
  EXPECT_GE(Count(trace::v1::OP_BRANCH), 6);
}

TEST_F(InlinePtxFlowTest, StatementsThatAreCutKeepTheirInstructions) {
  Expect({{R"("{ .reg .pred p; .reg .u32 t; bfe.u32 t, %1, 4, 8; setp.hi.u32 p, t, 3; @!p bra END;\n"
              "lop3.b32 t, t, %2, 255, 0xca; mad.hi.u32 %0, t, %1, %2; END: }" : "+r"(r) : "r"(a), "r"(b))",
           static_cast<uint32_t>((uint64_t{(0x67u & kB) | (~0x67u & 255)} * kA) >> 32) + kB}});
  const std::vector<std::string> all = Mnemonics(reader_->programs()[0]);
  for (const char* wanted : {"bfe.u32", "setp.hi.u32", "lop3.b32", "mad.hi.u32"}) {
    EXPECT_THAT(all, ::testing::Contains(wanted));
  }
}

TEST_F(InlinePtxFlowTest, AGuardedAccessIsRecordedByThoseWhoMakeIt) {
  Succeeds(R"(
__global__ void k(int* out) {
  int t = threadIdx.x, r = -1;
  asm volatile("{ .reg .pred p; and.b32 %0, %1, 1; setp.eq.s32 p, %0, 0; @p ld.global.cg.s32 %0, [%2+16];\n"
               "@!p st.global.s32 [%2], %1; }" : "+r"(r) : "r"(t), "l"(out + t) : "memory");
  if (r != 1) out[t] = r + 1;
})",
           absl::StrCat("buffer { name: \"out\" type: I32 count: 8 fill { iota { start: 20 } } }\n"
                        "launch { kernel: \"k\" block { x: 4 } argument { buffer: \"out\" } }\n"
                        "check { buffer: \"out\" expected { ",
                        Values({25, 1, 27, 3, 24, 25, 26, 27}), " } }\n"));
  const std::vector<std::vector<uint64_t>> addresses = Addresses();
  const uint64_t out = 0x2000'0000'0200;
  ASSERT_EQ(addresses.size(), 4);
  for (uint64_t t = 0; t < 4; ++t) EXPECT_EQ(addresses[t].size(), t % 2 == 0 ? 2 : 1);
  for (uint64_t t = 0; t < 4; t += 2) EXPECT_EQ(addresses[t][0], out + 4 * t + 16);
  EXPECT_THAT(Mnemonics(reader_->programs()[0]), ::testing::Contains("ld.global.cg.s32"));
}

TEST_F(InlinePtxFlowTest, EveryAccessOfAStatementHasItsAddress) {
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int cells[8];
  int t = threadIdx.x, x, y, z, w;
  unsigned cell = (unsigned)__cvta_generic_to_shared(&cells[2 * t]);
  asm volatile("{ .reg .b64 a; .reg .b32 c; add.u64 a, %5, 16; ld.global.v2.u32 {%0, %1}, [a];\n"
               "st.shared.v2.b32 [%4], {%1, %0}; add.u32 c, %4, 4; ld.volatile.shared.u32 %2, [c];\n"
               "atom.shared.add.u32 %3, [%4], 5; red.global.add.s32 [%5], %3; }"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(cell), "l"(out + 2 * t) : "memory");
  out[8 + t] = x + 10 * z + 100 * w + cells[2 * t];
})",
           absl::StrCat("buffer { name: \"out\" type: I32 count: 12 fill { iota { start: 0 } } }\n"
                        "launch { kernel: \"k\" block { x: 2 } argument { buffer: \"out\" } }\n"
                        "check { buffer: \"out\" expected { ",
                        Values({5, 1, 9, 3, 4, 5, 6, 7, 4 + 40 + 500 + 10, 6 + 60 + 700 + 12, 10, 11}), " } }\n"));
  const std::vector<std::vector<uint64_t>> addresses = Addresses();
  ASSERT_EQ(addresses.size(), 2);
  for (uint64_t t = 0; t < 2; ++t) {
    const uint64_t out = 0x2000'0000'0200 + 8 * t, cell = 0x2100'0000'0000 + 8 * t;
    ASSERT_GE(addresses[t].size(), 5);
    EXPECT_THAT(std::vector<uint64_t>(addresses[t].begin(), addresses[t].begin() + 5),
                ::testing::ElementsAre(out + 16, cell, cell + 4, cell, out));
  }
  for (const char* wanted : {"ld.global.v2.u32", "st.shared.v2.b32", "ld.volatile.shared.u32", "atom.shared.add.u32"}) {
    EXPECT_THAT(Mnemonics(reader_->programs()[0]), ::testing::Contains(wanted));
  }
}

TEST_F(InlinePtxFlowTest, SpacesMayNameTheirScope) {
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int cell;
  unsigned at = (unsigned)__cvta_generic_to_shared(&cell);
  int r;
  asm volatile("st.shared::cta.s32 [%1], 7;\n ld.shared::cta.s32 %0, [%1];" : "=r"(r) : "r"(at) : "memory");
  *out = r;
})",
           IntRecipe(1, 1, {7}));
  const trace::Program& program = reader_->programs()[0];
  int shared = 0;
  for (trace::Pc pc : program.accesses()) shared += program.instruction(pc).space() == trace::v1::SPACE_SHARED;
  EXPECT_EQ(shared, 2);
}

TEST_F(InlinePtxFlowTest, ALoopOverMemory) {
  Succeeds(R"(
__global__ void k(int* out) {
  int t = threadIdx.x, sum;
  asm volatile("{ .reg .pred p; .reg .b64 a; .reg .b32 i, v; mov.b64 a, %1; mov.u32 i, 0; mov.u32 %0, 0;\n"
               "MORE: setp.gt.u32 p, i, %2; @p bra DONE; ld.global.nc.u32 v, [a]; add.s32 %0, %0, v;\n"
               "add.s64 a, a, 4; add.u32 i, i, 1; bra.uni MORE; DONE: }" : "=r"(sum) : "l"(out), "r"(t) : "memory");
  out[4 + t] = sum;
})",
           absl::StrCat("buffer { name: \"out\" type: I32 count: 8 fill { iota { start: 1 } } }\n"
                        "launch { kernel: \"k\" block { x: 4 } argument { buffer: \"out\" } }\n"
                        "check { buffer: \"out\" expected { ",
                        Values({1, 2, 3, 4, 1, 3, 6, 10}), " } }\n"));
}

// The other threads of the block wait in a loop that the statement has, for what the last one writes.
TEST_F(InlinePtxFlowTest, ALoopThatWaits) {
  Succeeds(R"(
__global__ void k(int* out) {
  int t = threadIdx.x, value;
  if (t == 63) {
    asm volatile("st.global.s32 [%0+4], 7; st.release.gpu.global.s32 [%0], 1;" :: "l"(out) : "memory");
  } else if (t >= 32) {
    return;
  } else {
    asm volatile("{ .reg .pred p; .reg .b32 f; AGAIN: ld.acquire.gpu.global.s32 f, [%1]; setp.eq.s32 p, f, 0;\n"
                 "@p bra AGAIN; ld.global.s32 %0, [%1+4]; }" : "=r"(value) : "l"(out) : "memory");
    if (t < 2) out[2 + t] = value + t;
  }
})",
           IntRecipe(1, 64, {1, 7, 7, 8}));
}

TEST_F(InlinePtxFlowTest, VariablesOfAStatement) {
  Succeeds(R"(
__global__ void k(int* out) {
  int t = threadIdx.x, r;
  asm volatile("{ .shared .align 4 .b32 cells[32]; .reg .b32 a, b; mov.u32 a, cells; shl.b32 b, %1, 2; add.u32 b, a, b;\n"
               "st.shared.b32 [b], %1; bar.sync 0; ld.shared.b32 %0, [cells+12]; }" : "=r"(r) : "r"(t) : "memory");
  out[t] = r;
})",
           IntRecipe(1, 8, {3, 3, 3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(Count(trace::v1::OP_BARRIER), 1);
}

TEST_F(InlinePtxFlowTest, VariablesOfTheProgram) {
  Succeeds(R"(
extern "C" __device__ int counter[3] = {5, 6, 7};
extern "C" __constant__ int factor = 10;
__global__ void k(int* out) {
  int a, b, c;
  asm volatile("{ .reg .b64 at; mov.u64 at, counter; atom.global.add.u32 %0, [counter+4], 3; ld.global.u32 %1, [at+4];\n"
               "ld.const.u32 %2, [factor]; }" : "=r"(a), "=r"(b), "=r"(c) :: "memory");
  out[0] = a; out[1] = b; out[2] = c + counter[1];
})",
           IntRecipe(1, 1, {6, 9, 19}));
  const std::vector<std::vector<uint64_t>> addresses = Addresses();
  ASSERT_GE(addresses[0].size(), 2);
  EXPECT_EQ(addresses[0][0], addresses[0][1]);
}

TEST_F(InlinePtxFlowTest, ThreadsLeaveUnderAGuard) {
  Succeeds(R"(
__global__ void k(int* out) {
  int t = threadIdx.x;
  asm volatile("{ .reg .pred p; setp.ge.s32 p, %0, 3; @p exit; }" :: "r"(t));
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, 0; @p trap; }" :: "r"(t));
  out[t] = t + 1;
})",
           IntRecipe(1, 5, {1, 2, 3, 0, 0}));
}

TEST_F(InlinePtxFlowTest, ATrapUnderAGuardEndsTheLaunch) {
  Fails(
      "__global__ void k(int* out) {\n"
      "  asm volatile(\"{ .reg .pred p; setp.eq.s32 p, %0, 2; @p trap; }\" :: \"r\"(threadIdx.x));\n  out[0] = 1;\n}",
      IntRecipe(1, 5, {1}), {"kernel.cu:2", "trap"});
}

TEST_F(InlinePtxFlowTest, PackedNumbersVideoAndBarrierReductions) {
  const std::string two = R"( : "=r"(r) : "r"(a), "r"(b), "r"(7))";
  Expect(
      {
          {R"("{ .reg .b32 x; mov.b32 x, 0x3c004000; fma.rn.f16x2 %0, x, x, x; }" : "=r"(r))", 0x4000'4600},
          {R"("{ .reg .b32 x; mov.b32 x, 0x3f804000; add.rn.bf16x2 %0, x, x; }" : "=r"(r))", 0x4000'4080},
          {R"("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(1.0f), "f"(-2.0f))", 0x3f80'c000},
          {R"("{ .reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.u32.u16 %0, h; }" : "=r"(r) : "f"(0.5f))", 0x3800},
          {"\"vadd.u32.u32.u32.add %0, %1.b0, %2.h1, %3;\"" + two, 0x78 + 0xdeed + 7},
          {"\"vset.s32.u32.lt %0, %1, %2;\"" + two, 1},
          {"\"vshl.u32.u32.u32.clamp %0, %1, %3;\"" + two, kA << 7},
          {R"("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "l"(out))", 1},
          {R"("nanosleep.u32 20; mov.u32 %0, 3; brkpt; pmevent 1;" : "=r"(r))", 3},
          {R"("fns.b32 %0, 0xf0, 0, 2;" : "=r"(r))", 5},
          {R"("mov.b32 %0, %1; add.u32 %0, %0, %2;" : "=&r"(r) : "n"(30), "n"(12))", 42},
          {R"("{ .reg .v2 .b32 v; mov.b32 v.x, %1; mov.b32 v.y, 1; xor.b32 %0, v.x, v.y; }" : "=r"(r) : "r"(a))",
           kA ^ 1},
          {R"("{ .reg .b128 q; .reg .b64 x; mov.b128 q, {%1, %2}; mov.b128 {_, x}, q; cvt.u32.u64 %0, x; }" : "=r"(r) : "l"(3ull), )"
           R"("l"(9ull))",
           9},
      },
      1, "sm_80");
}

TEST_F(InlinePtxFlowTest, OldMeetingsAndSizesOfSharedMemory) {
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int cells[32];
  int t = threadIdx.x, a, b, c, d;
  cells[t] = t * t;
  __syncthreads();
  asm volatile("shfl.down.b32 %0, %1, 1, 0x1f;" : "=r"(a) : "r"(t));
  asm volatile("{ .reg .pred p; setp.lt.s32 p, %1, 3; vote.ballot.b32 %0, p; }" : "=r"(b) : "r"(t));
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(c));
  asm volatile("{ .reg .pred p; setp.ge.s32 p, %1, 0; @p mov.u32 %0, %%total_smem_size; }" : "=r"(d) : "r"(t));
  if (t == 5) { out[0] = a; out[1] = b; out[2] = c; out[3] = d + cells[a]; }
})",
           IntRecipe(1, 32, {6, 7, 64, 192 + 36}, "dynamic_shared_bytes: 64"));
  EXPECT_EQ(Count(trace::v1::OP_WARP), 4);  // and who is there, twice
}

TEST_F(InlinePtxFlowTest, NumbersOfBarriersMayBeConstantsInRegisters) {
  Succeeds(R"(
__device__ void Meet(unsigned id, unsigned threads) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads)); }
__global__ void k(int* out) {
  int t = threadIdx.x, p;
  out[t] = t;
  Meet(3, 64);
  Meet(0, blockDim.x > 2 ? 64 : 64);
  asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.s32 %0, 1, 0, p; }" : "=r"(p));
  asm("{ .reg .pred p; isspacep.shared::cluster p, %1; @p add.s32 %0, %0, 1; }" : "+r"(p) : "l"(out));
  if (t == 0) out[0] = out[63] + p;
})",
           IntRecipe(1, 64, [] {
             std::vector<double> expected(64);
             for (int i = 0; i < 64; ++i) expected[i] = i == 0 ? 63 : i;
             return expected;
           }()));
  EXPECT_EQ(Count(trace::v1::OP_BARRIER), 2);
}

TEST_F(InlinePtxFlowTest, NumbersOfBarriersInRegistersMustExist) {
  Fails("__global__ void k(int* out) {\n  asm volatile(\"bar.sync %0;\" :: \"r\"(out[0] + 16));\n}",
        IntRecipe(1, 1, {0}), {"kernel.cu:2", "barrier 16", "a block has barriers 0 to 15"});
}

TEST_F(InlinePtxFlowTest, CarriesPassThroughBranches) {
  Expect({{R"("{ .reg .pred p; .reg .u32 l; add.cc.u32 l, %1, %2; addc.u32 %0, 7, 0; setp.eq.u32 p, l, 0; @p bra E;\n"
              "add.u32 %0, %0, 100; E: }" : "=r"(r) : "r"(a), "r"(b))",
           108}});
}

// Code that flushes denormals: a statement does what it says, whether it is cut or not.
TEST_F(InlinePtxFlowTest, OnlyInstructionsThatSaySoFlushDenormals) {
  setenv("CCC_OVERRIDE_OPTIONS", "# +-fgpu-flush-denormals-to-zero", 1);  // read by clang
  Expect({
      {R"("{ .reg .f32 f; add.f32 f, %1, %1; mov.b32 %0, f; }" : "=r"(r) : "f"(1e-39f))", 0x0015'c730},
      {R"("{ .reg .f32 f; add.ftz.f32 f, %1, %1; mov.b32 %0, f; }" : "=r"(r) : "f"(1e-39f))", 0},
      {R"("{ .reg .f32 f; .reg .pred p; setp.gt.f32 p, %1, 0f00000000; mov.b32 f, 0; @p mul.f32 f, %1, 0f40000000;\n"
          "mov.b32 %0, f; }" : "=r"(r) : "f"(1e-39f))",
       0x0015'c730},
      {R"("{ .reg .f32 f; .reg .pred p; setp.gt.ftz.f32 p, %1, 0f00000000; mov.b32 %0, 5; @p mov.b32 %0, 6; }"
          : "=r"(r) : "f"(1e-39f))",
       5},
  });
  unsetenv("CCC_OVERRIDE_OPTIONS");
}

TEST_F(InlinePtxFlowTest, WhatIsNotKnownIsRefusedWithItsLine) {
  const std::vector<std::pair<std::string, std::string>> refused = {
      {"vfrob.u32.u32.u32 %0, %0, %0;", "an instruction that is not known"},
      {"mad.hi.sat.u32 %0, %0, %0, %0;", "mad.hi.sat"},
      {"add.u32 %0, %0, undeclared;", "undeclared"},
      {"add.u32 %0, %0, 1;\\n add.u64 %0, %0, 1;", "PTX line 2"},
      {"add.u32 %0, %0;", "operands that this instruction does not have"},
      {"@%0 add.u32 %0, %0, 1;", "a guard that is no predicate"},
      {"bra NOWHERE;", "NOWHERE"},
      {"ret;", "a return within a statement"},
      {"redux.sync.add.s32 %0, %0, -1;", "needs compute capability 8.0"},
      {"wgmma.commit_group.sync.aligned;", "a product of matrices of a group of warps"},
      {"mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %0, %0, %0}, {%0, %0}, {%0, %0}, {%0, %0, %0, %0}, "
       "%0, 0;",
       "a product of sparse matrices"},
      {"mma.sync.aligned.m16n8k4.row.row.f32.tf32.tf32.f32 {%0, %0, %0, %0}, {%0, %0}, {%0}, {%0, %0, %0, %0};",
       "not supported in this form"},
      {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0, %0, %0}, {%0, %0}, {%0}, {%0, %0, %0, %0};",
       "not supported in this form"},
      {"bar.arrive 1, 64;", "waits for 64 threads, but the block has 1"},
      {"cp.async.wait_all;", "needs compute capability 8.0"},
      {"cp.async.bulk.commit_group;", "a bulk copy"},
      {"{ .reg .u32 x;", "not supported"},
      {"/* no end", "not supported"},
      {"mov.u32 %0, %%nosuchregister;", "nosuchregister"},
  };
  for (const auto& [text, what] : refused) {
    SCOPED_TRACE(text);
    Fails(absl::StrCat("__global__ void k(int* out) {\n  asm volatile(\"", text, "\" : \"+r\"(out[0]));\n}"),
          IntRecipe(1, 1, {0}), {"kernel.cu:2", what});
  }
}

// Comments of a statement that read like the code generator's own are nothing but comments.
TEST_F(InlinePtxFlowTest, CommentsDoNotMislead) {
  Expect({{R"("add.u32 %0, %1, 1;\n// end inline asm\n// %%bb.0: // %%b0\n add.u32 %0, %0, 1; // { // callseq 7, 0\n"
              : "=r"(r) : "r"(a))",
           kA + 2},
          {R"("add.u32 %0, %1, 1; // plain\n/* and\n over lines */ add.u32 %0, %0, 1;" : "=r"(r) : "r"(a))", kA + 2}});
}

// Text that is meant to do harm ends in bounded time with one printable line.
TEST_F(InlinePtxFlowTest, HostileTexts) {
  std::string scopes(5000, '{'), parentheses = "mov.u32 %0, ", registers = ".reg .b32 r<99999999>;";
  parentheses += std::string(5000, '(') + "1" + std::string(5000, ')') + ";";
  for (const std::string& text : {scopes, parentheses, registers, std::string("add.u32 \\x01\\x1b[2J %0, %0, 1;"),
                                  std::string(".shared .b8 big[99999999999999];"), std::string("mov.u32 %0, 1 / 0;"),
                                  std::string("L: L: add.u32 %0, %0, 1;"), std::string(100000, 'x')}) {
    absl::StatusOr<CaptureSummary> summary =
        Capture(absl::StrCat("__global__ void k(int* out) {\n  asm volatile(\"", text, "\" : \"+r\"(out[0]));\n}"),
                IntRecipe(1, 1, {0}));
    ASSERT_FALSE(summary.ok()) << text.substr(0, 40);
    EXPECT_LT(summary.status().message().size(), 1000);
    for (const char c : summary.status().message()) EXPECT_TRUE(c >= ' ' && c < 127) << summary.status();
  }
}

}  // namespace
}  // namespace heddle::tracegen
