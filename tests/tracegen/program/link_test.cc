// The links between IR and PTX are total both ways.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/IR/InstIterator.h"
#include "tests/tracegen/program/snippet.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using ::testing::SizeIs;

// Every instruction of the program that records an address is linked by exactly one IR access, at its position.
void ExpectTotal(const Snippet& snippet) {
  std::multiset<uint32_t> linked;
  for (const auto& entry : snippet.unit.links.accesses) {
    const auto block = snippet.unit.links.blocks.find(entry.first->getParent());
    ASSERT_TRUE(block != snippet.unit.links.blocks.end());
    for (const AccessLink& access : entry.second) {
      linked.insert(access.instruction);
      EXPECT_LT(access.position, block->second.accesses);
    }
  }
  std::multiset<uint32_t> expected;
  for (int i = 0; i < snippet.program().instruction_size(); ++i) {
    if (trace::Program::HasAddress(snippet.program().instruction(i))) expected.insert(i);
  }
  EXPECT_EQ(linked, expected);
  // Blocks and edges together hold every instruction once.
  uint64_t instructions = 0;
  std::set<std::pair<const llvm::Instruction*, uint32_t>> edges;
  for (const auto& entry : snippet.unit.links.blocks) instructions += entry.second.instructions;
  for (const auto& entry : snippet.unit.links.edges) {
    for (const EdgeLink& edge : entry.second) instructions += edge.instructions;
  }
  EXPECT_EQ(instructions, static_cast<uint64_t>(snippet.program().instruction_size()));
}

TEST(Links, LoopsAndBranches) {
  ExpectTotal(MustRead(R"(__global__ void k(int* a, int n) {
  int i = threadIdx.x, s = 0;
  for (int j = 0; j < n; ++j) {
    if (a[j] == i) continue;
    if (a[j] < 0) { a[j] = 0; break; }
    s += a[j];
    do { s ^= a[s & 7]; } while (s > 100);
  }
  a[i] = s;
})"));
}

TEST(Links, CallsSplitBlocks) {
  const Snippet snippet = MustRead(R"(__device__ __attribute__((noinline)) int f(int x, int* a) {
  if (x < 2) return a[x];
  return f(x - 1, a) + a[x] + f(x - 2, a);
}
__global__ void k(int* a) { a[threadIdx.x] = a[1] + f(a[threadIdx.x], a) + a[2]; })");
  ExpectTotal(snippet);
  for (const llvm::Function& function : *snippet.module.module) {
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (call == nullptr || call->getCalledFunction()->isDeclaration()) continue;
      EXPECT_TRUE(call->getNextNode()->isTerminator()) << "code behind a call in its block";
    }
  }
}

TEST(Links, ManyFunctionsAndOneThatNeverReturns) {
  const Snippet snippet = MustRead(R"(#define NOINLINE __device__ __attribute__((noinline))
NOINLINE int f4(int x, int* a) { return x + a[x]; }
NOINLINE int f3(int x, int* a) { return f4(x, a) * a[1]; }
NOINLINE int f2(int x, int* a) { return f3(x, a) + f4(a[2], a); }
__attribute__((noreturn)) NOINLINE void fail(int* a) { a[9] = 1; __trap(); }
__global__ void k(int* a) {
  int i = threadIdx.x;
  a[i] = f2(i, a);
  if (a[i] == 3) fail(a);
  a[i] = f3(i, a);
})");
  ExpectTotal(snippet);
  EXPECT_EQ(snippet.program().function_size(), 5);
}

TEST(Links, WithoutOptimisation) {
  CompileOptions options;
  options.optimization = "-O0";
  ExpectTotal(MustRead(R"(__device__ int f(int x, int* a) { return x > 0 ? a[x] : a[0]; }
__global__ void k(int* a, int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) s += f(i, a);
  a[threadIdx.x] = s;
})",
                       ".cu", options));
}

TEST(Links, UnalignedStructureIsManyAccesses) {
  const Snippet snippet = MustRead(R"(struct __attribute__((packed)) S { char c; int x; };
__global__ void k(S* s) { s[threadIdx.x] = s[threadIdx.x + 9]; })");
  ExpectTotal(snippet);
  EXPECT_THAT(snippet.All(v1::OP_LOAD).size(), ::testing::Ge(5u));
}

TEST(Links, UnalignedWordIsReadByteByByte) {
  const Snippet snippet = MustRead(R"(struct __attribute__((packed)) S { char c; int x; };
__global__ void k(S* s, int* out) { out[threadIdx.x] = s[threadIdx.x].x; })");
  ExpectTotal(snippet);
  EXPECT_THAT(snippet.Starting("ld.global.u8"), SizeIs(4));
}

TEST(Links, AVolatileUnalignedWordIsReadByteByByte) {
  const Snippet snippet = MustRead(R"(struct __attribute__((packed)) S { char c; int x; };
__global__ void k(volatile S* s, int* out) { out[threadIdx.x] = s[threadIdx.x].x; })");
  ExpectTotal(snippet);
  EXPECT_THAT(snippet.Starting("ld.volatile.global.u8"), SizeIs(4));
}

TEST(Links, UnalignedNumberIsWrittenByteByByte) {
  const Snippet snippet = MustRead(R"(__global__ void k(const double* in, char* out) {
  const double value = in[threadIdx.x];
  __builtin_memcpy(out + 9 * threadIdx.x, &value, sizeof(value));
})");
  ExpectTotal(snippet);
  EXPECT_THAT(snippet.Starting("st.global.u8"), SizeIs(8));
}

TEST(Links, BigStructureIsCopiedInPieces) {
  ExpectTotal(MustRead(R"(struct S { int v[12]; };
__global__ void k(S* s) { s[threadIdx.x] = s[threadIdx.x + 1]; })"));
}

TEST(Links, VeryBigStructureIsCopiedInALoop) {
  ExpectTotal(MustRead(R"(struct S { int v[100]; };
__global__ void k(S* s) { s[threadIdx.x] = s[threadIdx.x + 1]; })"));
}

TEST(Links, ByValueParameter) {
  const Snippet snippet = MustRead(R"(struct S { int v[20]; float f; };
__global__ void k(S s, int* a) { a[threadIdx.x] = s.v[threadIdx.x] + (int)s.f; })");
  ExpectTotal(snippet);
}

TEST(Links, ByValueParameterThatIsWritten) {
  ExpectTotal(MustRead(R"(struct S { int v[20]; float f; };
__global__ void k(S s, int* a) {
  s.v[threadIdx.x & 7] = a[0];
  for (int i = 0; i < a[1]; ++i) s.v[i] += s.v[a[i]];
  a[threadIdx.x] = s.v[threadIdx.x] + (int)s.f;
})"));
}

TEST(Links, ByValueArgumentOfADeviceFunction) {
  ExpectTotal(MustRead(R"(struct S { int v[6]; };
__device__ __attribute__((noinline)) int f(S s, int i) { s.v[i & 3] = i; return s.v[0] + s.v[1]; }
__global__ void k(S* s, int* a) { a[threadIdx.x] = f(s[threadIdx.x], a[0]); })"));
}

TEST(Links, LoadsThatTheCodeGeneratorWouldMoveStay) {
  const Snippet snippet = MustRead(R"(__kernel void k(__global const float* view, __global int* out) {
  const int x = get_global_id(0);
  const int most = (int)view[5];
  if (x >= (int)view[3]) return;
  int n = 0;
  while (n < most && n * n < x) ++n;
  out[x] = n;
})",
                                   ".cl");
  ExpectTotal(snippet);
  for (const v1::Instruction& load : snippet.All(v1::OP_LOAD)) {
    EXPECT_FALSE(load.flags() & v1::FLAG_VOLATILE) << "the program has no volatile access";
    EXPECT_EQ(load.mnemonic().find("volatile"), std::string::npos);
  }
}

TEST(Links, NarrowedAndVectorAccesses) {
  ExpectTotal(MustRead(R"(__global__ void k(const int* a, unsigned char* b, float4* v, double2* d) {
  int i = threadIdx.x;
  b[i] = (unsigned char)(a[i] >> 8);
  float4 x = v[i];
  v[i + 1].y = x.z;
  d[i] = make_double2(x.x, d[i + 1].y);
})"));
}

// The code generator takes vectors of bytes apart, or puts them together in a register, and gives loads the lines of
// what uses them.
TEST(Links, VectorsOfSmallIntegers) {
  const std::string names = R"(
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define V JOIN(T, N)
#define WIDE JOIN(int, N)
#define WIDEN(v) JOIN(convert_, WIDE)(v)
#define LOAD(i, p) JOIN(vload, N)(i, p)
#define STORE(v, i, p) JOIN(vstore, N)(v, i, p)
)";
  const std::string kernels[] = {R"(
kernel void k(global const T* in, global int* out, int step) {
  int i = get_local_id(0);
  STORE(WIDEN(LOAD(0, in + i * step)), i, out);
})",
                                 R"(
kernel void k(global const T* in, global V* out, int step) {
  local V tile[32];
  int i = get_local_id(0);
  tile[i] = LOAD(0, in + i * step);
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = tile[31 - i];
})",
                                 R"(
kernel void k(global const T* in, global int* out, global V* vectors, int n) {
  int i = get_local_id(0);
  WIDE sum = (WIDE)(0);
  for (int j = 0; j < n; ++j) {
    if (in[j] > 3) sum += WIDEN(LOAD(j, in)) * (int)LOAD(i, in).s0;
  }
  STORE(sum, i, out);
  vectors[i] = JOIN(JOIN(convert_, V), _sat)(sum) + LOAD(i, in + n);
})"};
  for (const char* kind :
       {"#define T uchar\n#define N 2", "#define T uchar\n#define N 3", "#define T uchar\n#define N 4",
        "#define T char\n#define N 8", "#define T short\n#define N 3"}) {
    for (const std::string& kernel : kernels) {
      SCOPED_TRACE(kind + kernel);
      ExpectTotal(MustRead(absl::StrCat(kind, names, kernel), ".cl"));
    }
  }
}

TEST(Links, AtomicsSharedLocalConstant) {
  ExpectTotal(MustRead(R"(__constant__ float c[32];
__global__ void k(int* a, float* f, short* h) {
  __shared__ int tile[32];
  int local[16];
  int i = threadIdx.x;
  for (int j = 0; j < 16; ++j) local[j] = a[j * 3];
  tile[i] = 0;
  __syncthreads();
  atomicAdd(&tile[a[i] & 31], local[a[i] & 15]);
  __syncthreads();
  f[i] = c[i & 31] + tile[i] + atomicAdd(f + 1, 2.0f) + h[i];
})"));
}

// LLVM gives the one load of a byte the line of one of its extensions.
TEST(Links, BytesExtendedBothWays) {
  const Snippet stored = MustRead(R"(__global__ void k(const signed char* a, int* o) {
  signed char x = a[threadIdx.x];
  o[0] = x;
  o[1] = (unsigned char)x;
})");
  ExpectTotal(stored);
  EXPECT_THAT(stored.Starting("ld.global"), SizeIs(1));
  ExpectTotal(MustRead(R"(__global__ void k(const unsigned char* a, int* o) {
  unsigned char x = a[threadIdx.x];
  o[0] = x + 1;
  if (x > o[5]) o[1] = (signed char)x;
})"));
  ExpectTotal(MustRead(R"(__global__ void k(const signed char* a, int* o) {
  signed char x = a[0], y = a[1];
  o[0] = x + a[1];
  o[1] = (unsigned char)x + 3;
  o[2] = (signed char)((unsigned char)y << a[2]);
})"));
}

// Masks narrow loads that the code generator may then make smaller.
TEST(Links, MaskedAndTruncatedWords) {
  const Snippet snippet = MustRead(R"(__global__ void k(const int* a, const long* b, int* o) {
  o[0] = (a[0] & 255) + (signed char)a[1] + (short)b[0] + (int)b[1];
  o[1] = (a[2] & 0xffff) ^ (a[3] & a[4]);
})");
  ExpectTotal(snippet);
  for (const v1::Instruction& load : snippet.All(v1::OP_LOAD)) {
    EXPECT_FALSE(load.flags() & v1::FLAG_VOLATILE) << load.mnemonic();
  }
}

TEST(Links, ConditionalEdgesDecideAndOthersDoNot) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a) {
  int i = threadIdx.x;
  while (a[i] > 3) a[i] = a[a[i]];
})");
  ExpectTotal(snippet);
  for (const auto& entry : snippet.unit.links.edges) {
    if (entry.second.size() == 2) {
      EXPECT_TRUE(entry.second[0].decides && entry.second[1].decides);
      EXPECT_NE(entry.second[0].decision, entry.second[1].decision);
    } else if (entry.second.size() == 1) {
      EXPECT_FALSE(entry.second[0].decides);
    }
  }
}

}  // namespace
}  // namespace heddle::tracegen
