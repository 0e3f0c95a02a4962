// Opcode classes, spaces, sizes, registers and source lines of instructions.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tracegen/program/snippet.h"
#include "tracegen/ptx/opcode.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using ::testing::SizeIs;

TEST(Opcode, ClassesFollowThePtxManual) {
  EXPECT_EQ(ClassifyOpcode("mov.u32").op, v1::OP_MOVE);
  EXPECT_EQ(ClassifyOpcode("cvta.to.global.u64").op, v1::OP_MOVE);
  EXPECT_EQ(ClassifyOpcode("add.s32").op, v1::OP_INT_ALU);
  EXPECT_EQ(ClassifyOpcode("setp.lt.s32").op, v1::OP_INT_ALU);
  EXPECT_EQ(ClassifyOpcode("mul.wide.s32").op, v1::OP_INT_MUL);
  EXPECT_EQ(ClassifyOpcode("rem.u32").op, v1::OP_INT_DIV);
  EXPECT_EQ(ClassifyOpcode("fma.rn.f32").op, v1::OP_FP32);
  EXPECT_EQ(ClassifyOpcode("fma.rn.f64").op, v1::OP_FP64);
  EXPECT_EQ(ClassifyOpcode("div.rn.f32").op, v1::OP_FP_DIV);
  EXPECT_EQ(ClassifyOpcode("sqrt.rn.f64").op, v1::OP_FP_DIV);
  EXPECT_EQ(ClassifyOpcode("ex2.approx.f32").op, v1::OP_SFU);
  EXPECT_EQ(ClassifyOpcode("cvt.rn.f32.s32").op, v1::OP_CONVERT);
  EXPECT_EQ(ClassifyOpcode("bar.sync").op, v1::OP_BARRIER);
  EXPECT_EQ(ClassifyOpcode("bar.warp.sync").op, v1::OP_WARP);
  EXPECT_EQ(ClassifyOpcode("membar.gl").op, v1::OP_FENCE);
  EXPECT_EQ(ClassifyOpcode("shfl.sync.down.b32").op, v1::OP_WARP);
  EXPECT_EQ(ClassifyOpcode("red.global.add.u32").op, v1::OP_ATOMIC);
  EXPECT_EQ(ClassifyOpcode("frobnicate.u32").op, v1::OP_UNKNOWN);
}

TEST(Opcode, AccessesHaveSpaceAndBytes) {
  const Opcode wide = ClassifyOpcode("ld.global.v4.f32");
  EXPECT_EQ(wide.space, v1::SPACE_GLOBAL);
  EXPECT_EQ(wide.access_bytes, 16u);
  EXPECT_EQ(ClassifyOpcode("st.shared.u8").access_bytes, 1u);
  EXPECT_EQ(ClassifyOpcode("ld.u64").space, v1::SPACE_GENERIC);
  EXPECT_EQ(ClassifyOpcode("ld.const.v2.f64").access_bytes, 16u);
  EXPECT_TRUE(ClassifyOpcode("ld.volatile.global.u32").is_volatile);
}

TEST(Opcode, MathFunctionsCostOperationsOfTheSpecialFunctionUnit) {
  EXPECT_EQ(MathMicroOps("__nv_fast_sinf"), 1u);
  EXPECT_EQ(*MathMicroOps("__nv_sin"), 4 * *MathMicroOps("__nv_sinf"));
  EXPECT_TRUE(MathMicroOps("__nv_erf").has_value());
  EXPECT_TRUE(MathMicroOps("__nv_erff").has_value());
  EXPECT_FALSE(MathMicroOps("sinf").has_value());
}

// A vector in place of elements of a declared array: what is certain of its place counts, not the element's size.
TEST(Instruction, CopiesIntoAnAlignedArrayAreWide) {
  const auto stores = [](const std::string& alignment, const std::string& pad) {
    return MustRead(
               "__global__ void k(const unsigned short* from, int* to, int n) {\n"
               "  __shared__ __align__(" +
               alignment + ") unsigned short tile[64][32 + " + pad +
               "];\n"
               "  for (int i = threadIdx.x; i < n; i += 32) {\n"
               "    *reinterpret_cast<int4*>(&tile[i / 4][i % 4 * 8]) = *reinterpret_cast<const int4*>(from + 8 * i);\n"
               "  }\n"
               "  __syncthreads();\n"
               "  *to = tile[n][*to];\n"
               "}\n")
        .Starting("st.shared");
  };
  EXPECT_THAT(stores("16", "8"), SizeIs(2)) << "of 8 bytes";
  EXPECT_THAT(stores("4", "8"), SizeIs(4)) << "the array is not aligned";
  EXPECT_THAT(stores("16", "2"), SizeIs(4)) << "its rows are not";
  const Snippet dynamic = MustRead(
      "extern __shared__ unsigned short tile[];\n"
      "__global__ void k(const unsigned short* from, int* to, int n) {\n"
      "  for (int i = threadIdx.x; i < n; i += 32) {\n"
      "    *reinterpret_cast<int4*>(&tile[8 * i]) = *reinterpret_cast<const int4*>(from + 8 * i);\n"
      "  }\n"
      "  __syncthreads();\n"
      "  *to = tile[*to];\n"
      "}\n");
  EXPECT_THAT(dynamic.Starting("st.shared"), SizeIs(2)) << "dynamic shared memory is aligned to 16";
}

TEST(Instruction, MemorySpacesComeFromPtx) {
  const Snippet snippet = MustRead(R"(__constant__ int table[16];
__global__ void k(float4* v, int* a, int n) {
  __shared__ int tile[64];
  int i = threadIdx.x;
  float4 x = v[i];
  tile[i] = table[a[i] & 15];
  __syncthreads();
  v[i + 1] = make_float4(x.w, x.z, x.y, x.x + tile[i ^ 1]);
})");
  EXPECT_THAT(snippet.Starting("ld.const"), SizeIs(1));
  ASSERT_THAT(snippet.Starting("ld.global.v4"), SizeIs(1));
  EXPECT_EQ(snippet.Starting("ld.global.v4")[0].access_bytes(), 16u);
  EXPECT_EQ(snippet.Starting("ld.global.v4")[0].dst_size(), 4);
  EXPECT_EQ(snippet.Starting("st.shared")[0].space(), v1::SPACE_SHARED);
  for (const v1::Instruction& load : snippet.Starting("ld.param")) {
    EXPECT_EQ(load.op(), v1::OP_LOAD);
    EXPECT_TRUE(load.flags() & v1::FLAG_NO_ADDRESS);
  }
  ASSERT_THAT(snippet.All(v1::OP_BARRIER), SizeIs(1));
  EXPECT_EQ(snippet.All(v1::OP_BARRIER)[0].barrier_id(), 0u);
}

// Neighbours become one access where their alignment is certain: in a copy of a whole structure, whose type promises
// it, and in a variable. Accesses to members through a pointer stay on their own.
TEST(Instruction, NeighboursAreMergedWhereTheirAlignmentIsCertain) {
  const std::string types = "struct __attribute__((aligned(16))) Four { float x, y, z, w; };\n";
  const Snippet whole = MustRead(types +
                                 "__global__ void k(Four* a, float* b) {\n"
                                 "  Four v = a[threadIdx.x];\n"
                                 "  b[threadIdx.x] = v.x * v.y + v.z * v.w;\n}");
  EXPECT_EQ(whole.Starting("ld.global.v4").size(), 1u);
  const Snippet members = MustRead(types +
                                   "__global__ void k(Four* a, float* b) {\n"
                                   "  Four* p = a + threadIdx.x;\n"
                                   "  b[threadIdx.x] = p->x * p->y + p->z * p->w;\n}");
  EXPECT_EQ(members.Starting("ld.global.v4").size(), 0u);
  EXPECT_EQ(members.Starting("ld.global.f32").size(), 4u);
  const Snippet variable =
      MustRead(types +
               "__global__ void k(Four* a, float* b) {\n"
               "  __shared__ Four s[32];\n"
               "  s[threadIdx.x ^ 5] = a[threadIdx.x];\n"
               "  __syncthreads();\n"
               "  b[threadIdx.x] = s[threadIdx.x].x * s[threadIdx.x].y + s[threadIdx.x].z * s[threadIdx.x].w;\n}");
  EXPECT_EQ(variable.Starting("ld.shared.v4").size(), 1u);
}

TEST(Instruction, AtomicsAndReductions) {
  const Snippet snippet =
      MustRead(R"(__global__ void k(int* a, unsigned* u, float* f, double* d, unsigned long long* q) {
  a[1] = atomicAdd(a, 1);
  u[1] = atomicInc(u, 5u);
  f[1] = atomicAdd(f, 2.0f);
  d[1] = atomicAdd(d, 2.0);
  q[1] = atomicCAS(q, 3ull, 4ull);
  a[3] = atomicMin(a + 2, 3);
  u[3] = atomicExch(u + 2, 3u);
})");
  const std::vector<v1::Instruction> atomics = snippet.All(v1::OP_ATOMIC);
  ASSERT_THAT(atomics, SizeIs(7));
  EXPECT_EQ(atomics[0].access_bytes(), 4u);
  EXPECT_EQ(atomics[3].access_bytes(), 8u);
  EXPECT_EQ(atomics[4].access_bytes(), 8u);
}

TEST(Instruction, WarpOperationsAreMarked) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a, double* d) {
  int i = threadIdx.x;
  a[i] = __shfl_down_sync(~0u, a[i], 4) + __ballot_sync(~0u, a[i] > 3) + __any_sync(~0u, i);
  d[i] = __shfl_xor_sync(~0u, d[i], 1);
})");
  EXPECT_TRUE(snippet.program().uses_warp_operations());
  EXPECT_THAT(snippet.Starting("shfl.sync"), SizeIs(3)) << "64 bits take two";
  EXPECT_FALSE(MustRead("__global__ void k(int* a) { *a = 1; }").program().uses_warp_operations());
}

TEST(Instruction, MathIsOneSpecialFunctionOperation) {
  const Snippet snippet = MustRead(R"(__global__ void k(float* f, double* d) {
  int i = threadIdx.x;
  f[i] = sinf(f[i]);
  d[i] = pow(d[i], 2.5);
  f[i + 1] = sqrtf(f[i + 2]);
})");
  EXPECT_EQ(snippet.program().block_size(), 1) << "no branches of a software version";
  const std::vector<v1::Instruction> calls = snippet.All(v1::OP_SFU);
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_EQ(calls[0].mnemonic(), "call.__nv_sinf");
  EXPECT_EQ(calls[0].dst_size(), 1);
  EXPECT_EQ(calls[0].src_size(), 1);
  EXPECT_GT(calls[0].micro_ops(), 0u);
  EXPECT_THAT(snippet.Starting("sqrt.rn.f32"), SizeIs(1));
}

TEST(Instruction, BarrierReductionsReadTheirPredicate) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a) {
  a[threadIdx.x] = __syncthreads_count(a[threadIdx.x] > 2);
})");
  const std::vector<v1::Instruction> barriers = snippet.All(v1::OP_BARRIER);
  ASSERT_THAT(barriers, SizeIs(1));
  EXPECT_EQ(barriers[0].dst_size(), 1);
  EXPECT_EQ(barriers[0].src_size(), 1);
}

TEST(Instruction, KnowsItsSourceLine) {
  const Snippet snippet = MustRead("__global__ void k(float* a) {\n  a[0] = 1;\n\n  a[1] = sinf(a[2]);\n}\n");
  EXPECT_EQ(snippet.Starting("call.__nv_sinf")[0].source_line(), 4u) << "the caller's line, not the device header's";
  const std::vector<v1::Instruction> stores = snippet.All(v1::OP_STORE);
  ASSERT_THAT(stores, SizeIs(2));
  EXPECT_EQ(stores[0].source_line(), 2u);
  ASSERT_GE(stores[0].source_file(), 1u);
  EXPECT_EQ(snippet.module.source_files[stores[0].source_file() - 1], "snippet.cu");
}

TEST(Instruction, OpenClBuiltInsBecomeTheSameInstructions) {
  const Snippet snippet = MustRead(R"(__kernel void k(__global float4* a, __local int* tile, __global volatile int* n) {
  size_t i = get_global_id(0);
  tile[get_local_id(0)] = (int)i;
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = sin(a[i]) * tile[3];
  atomic_inc(n);
  if (atomic_cmpxchg(n + 1, 2, 3) == 2) atomic_max(n + 2, 9);
})",
                                   ".cl");
  EXPECT_THAT(snippet.All(v1::OP_BARRIER), SizeIs(1));
  EXPECT_THAT(snippet.Starting("call.__nv_sinf"), SizeIs(4));
  EXPECT_THAT(snippet.All(v1::OP_ATOMIC), SizeIs(3));
  EXPECT_EQ(snippet.Starting("st.shared").size(), 1u);
}

}  // namespace
}  // namespace heddle::tracegen
