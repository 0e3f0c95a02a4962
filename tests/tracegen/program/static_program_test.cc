// The static program: blocks, post-dominators, loops, calls, flags.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tracegen/program/snippet.h"
#include "tracegen/program/kernel_list.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST(StaticProgram, StraightLineIsOneBlockThatExits) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a) {
  a[threadIdx.x] = a[threadIdx.x] + 1;
})");
  ASSERT_EQ(snippet.program().block_size(), 1);
  EXPECT_EQ(snippet.program().block(0).terminator(), v1::EXIT);
  EXPECT_EQ(snippet.PostDominator(0), -1);
  EXPECT_THAT(snippet.All(v1::OP_EXIT), SizeIs(1));
}

TEST(StaticProgram, IfElseRejoinsBehindBothSides) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a) {
  int i = threadIdx.x;
  if (a[i] > 0) {
    atomicAdd(a, 1);
  } else {
    atomicXor(a + 1, 2);
  }
  a[i + 300] = 3;
})");
  const std::vector<uint32_t> branches = snippet.Ending(v1::BRANCH_CONDITIONAL);
  ASSERT_THAT(branches, SizeIs(1));
  EXPECT_EQ(snippet.PostDominator(branches[0]), static_cast<int>(snippet.BlockOfLine(8)));
  const v1::BasicBlock& branch = snippet.program().block(branches[0]);
  ASSERT_EQ(branch.successor_size(), 2);
  EXPECT_NE(branch.successor(0), branch.successor(1));
}

TEST(StaticProgram, EarlyReturnRejoinsAtTheExit) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  a[i] = 1;
})");
  const std::vector<uint32_t> exits = snippet.Ending(v1::EXIT);
  ASSERT_THAT(exits, SizeIs(1));
  EXPECT_EQ(snippet.PostDominator(0), static_cast<int>(exits[0]));
}

// Threads that return early must not wait at a shared `ret` for threads that wait for them at a barrier.
TEST(StaticProgram, EarlyReturnBeforeABarrierIsAnExitOfItsOwn) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a, int n) {
  __shared__ int s[64];
  if (threadIdx.x >= n) return;
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  a[threadIdx.x] = s[n - 1 - threadIdx.x];
})");
  const std::vector<uint32_t> branches = snippet.Ending(v1::BRANCH_CONDITIONAL);
  ASSERT_EQ(branches.size(), 1u);
  EXPECT_LT(snippet.PostDominator(branches[0]), 0);
  EXPECT_EQ(snippet.Ending(v1::EXIT).size(), 2u);
}

TEST(StaticProgram, NestedLoopsHaveTheirDepthAndStandTogether) {
  CompileOptions options;
  options.no_unroll = true;
  const Snippet snippet = MustRead(R"(__global__ void k(int* a, int n) {
  int i = threadIdx.x;
  for (int x = 0; x < a[i]; ++x) {
    int y = x;
    while (true) {
      if (a[i + y] == 7) break;
      if (a[i + y] == 8) { ++y; continue; }
      a[y] += 3;
      ++y;
    }
    a[i + 1000] = y;
  }
})",
                                   ".cu", options);
  uint32_t deepest = 0;
  bool inside = false, left = false;
  for (const v1::BasicBlock& block : snippet.program().block()) {
    deepest = std::max(deepest, block.loop_depth());
    if (block.loop_depth() > 0) {
      EXPECT_FALSE(left) << "blocks of a loop stand apart";
      inside = true;
    } else if (inside) {
      left = true;
    }
  }
  EXPECT_EQ(deepest, 2u);
}

// What each side does fits into a selection.
TEST(StaticProgram, ABranchThatWouldBecomeASelectionCanBeKept) {
  const std::string source = R"(__global__ void k(int* a) {
  int x = a[threadIdx.x];
  if (x & 1) x = x * 3 + 1; else x -= 7;
  a[threadIdx.x] = x;
})";
  EXPECT_THAT(MustRead(source).Ending(v1::BRANCH_CONDITIONAL), SizeIs(0));
  CompileOptions options;
  options.keep_branches = true;
  EXPECT_THAT(MustRead(source, ".cu", options).Ending(v1::BRANCH_CONDITIONAL), SizeIs(1));
}

TEST(StaticProgram, MaximaAndSelectionsCanBeBranches) {
  const std::string source = R"(__global__ void k(int* a, float* f) {
  int x = a[threadIdx.x];
  if (x < 0) x = 0;
  a[threadIdx.x] = x;
  float y = f[threadIdx.x], z = f[threadIdx.x + 64];
  f[threadIdx.x] = x > 7 ? y : z;
})";
  EXPECT_THAT(MustRead(source).Ending(v1::BRANCH_CONDITIONAL), SizeIs(0));
  CompileOptions options;
  options.keep_branches = true;
  EXPECT_THAT(MustRead(source, ".cu", options).Ending(v1::BRANCH_CONDITIONAL), SizeIs(2));
}

TEST(StaticProgram, SwitchBecomesTwoWayBranches) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a) {
  int i = threadIdx.x;
  switch (a[i]) {
    case 1: a[i + 10] = 5; break;
    case 7: a[i + 20] = 6; break;
    case 20: a[i + 30] = 7; break;
    case 90: a[i + 40] = 8; break;
  }
})");
  EXPECT_GE(snippet.Ending(v1::BRANCH_CONDITIONAL).size(), 4u);
  EXPECT_THAT(snippet.Ending(v1::BRANCH_WIDE), SizeIs(0));
}

TEST(StaticProgram, DeviceFunctionIsCalledAndReturns) {
  const Snippet snippet = MustRead(R"(__device__ __attribute__((noinline)) int f(int x, int* a) {
  return x > 3 ? a[x] : a[x + 1];
}
__global__ void k(int* a) {
  int i = threadIdx.x;
  a[i] = f(a[i], a) + 1;
})");
  ASSERT_EQ(snippet.program().function_size(), 2);
  EXPECT_THAT(snippet.program().function(0).name(), HasSubstr("k("));
  const std::vector<uint32_t> calls = snippet.Ending(v1::CALL);
  ASSERT_THAT(calls, SizeIs(1));
  const v1::BasicBlock& call = snippet.program().block(calls[0]);
  ASSERT_EQ(call.callee_size(), 1);
  EXPECT_EQ(call.callee(0), 1u);
  ASSERT_EQ(call.successor_size(), 1);
  EXPECT_EQ(snippet.PostDominator(calls[0]), static_cast<int>(call.successor(0)));
  EXPECT_GE(snippet.Ending(v1::RETURN).size(), 1u);
  // Arguments and results move; they access no memory.
  for (const v1::Instruction& move : snippet.Starting("st.param")) EXPECT_EQ(move.op(), v1::OP_MOVE);
  // What the caller keeps over the call counts too.
  EXPECT_GT(snippet.program().register_count(), snippet.program().function(1).register_count());
}

TEST(StaticProgram, RecursionIsACallOfItself) {
  const Snippet snippet = MustRead(R"(__device__ __attribute__((noinline)) int f(int x, int* a) {
  if (x < 2) return a[x];
  int left = f(x - 1, a);
  a[x] = left;
  return left + f(x - 2, a) * a[x + 3];
}
__global__ void k(int* a) { a[threadIdx.x] = f(a[threadIdx.x], a); })");
  bool calls_itself = false;
  const v1::Function& f = snippet.program().function(1);
  for (uint32_t b = f.first_block(); b < f.first_block() + f.block_count(); ++b) {
    for (uint32_t callee : snippet.program().block(b).callee()) calls_itself |= callee == 1;
  }
  EXPECT_TRUE(calls_itself);
}

TEST(StaticProgram, AssertionDoesNotMoveTheReconvergencePoint) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a, int n) {
  int i = threadIdx.x;
  for (int j = 0; j < n; ++j) {
    if (a[i + j] > 0) {
      assert(a[i] != 5);
      a[i + 100] = 1;
    }
    a[i + 200] += j;
  }
})");
  const uint32_t branch = snippet.BlockOfLine(4);
  EXPECT_GE(snippet.PostDominator(branch), 0);
  const std::vector<v1::Instruction> failures = snippet.Starting("call.__assertfail");
  ASSERT_FALSE(failures.empty());
  EXPECT_TRUE(failures[0].flags() & v1::FLAG_CANNOT_RETURN);
  for (uint32_t block : snippet.Ending(v1::BRANCH_CONDITIONAL)) {
    const v1::BasicBlock& at = snippet.program().block(block);
    if (at.loop_depth() > 0) {
      EXPECT_GE(snippet.PostDominator(block), 0) << "branch " << block;
    }
  }
}

// As a `return` there would be, and unlike a trap.
TEST(StaticProgram, ExitOfTheProgramIsARegularEnd) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a) {
  if (a[threadIdx.x] > 0) {
    a[threadIdx.x] = 5;
    asm volatile("exit;");
  }
  a[threadIdx.x + 100] = 1;
})");
  EXPECT_EQ(snippet.PostDominator(snippet.BlockOfLine(2)), -1);
  const std::vector<v1::Instruction> ends = snippet.All(v1::OP_EXIT);
  EXPECT_EQ(ends.size(), 2u);
  for (const v1::Instruction& end : ends) EXPECT_FALSE(end.flags() & v1::FLAG_CANNOT_RETURN);
}

// A matcher: cleanups at the end of every iteration, `goto` into and out of the loop, and a full switch.
std::string Matcher(const std::string& last_label) {
  return R"(struct Cursor {
  int* place;
  int at = 0;
  __device__ explicit Cursor(int* p) : place(p) {}
  __device__ ~Cursor() { *place = at; }
};
__device__ int child(const int* node, int letter) {
  switch (letter) {
    case 0: return node[0];
    case 1: return node[1] + 1;
    case 2: return node[2] * 3;
)" + last_label +
         R"(
  }
}
__global__ void k(const int* tree, const int* text, int* out, int n) {
  for (int start = threadIdx.x; start < n; start += 32) {
    Cursor cursor(out + start);
    int node = 0;
  again:
    int letter = text[start + cursor.at];
    if (letter < 0) goto done;
    node = child(tree + 4 * node, letter);
    if (node == 0) continue;
    ++cursor.at;
    if (tree[4 * node + 3] > letter) goto again;
    out[start + n] = node;
  done:
    out[start + 2 * n] += cursor.at;
  }
})";
}

// LLVM's back end writes an `exit` for `unreachable`. It is no way to the end of the kernel.
TEST(StaticProgram, UnreachableDoesNotMoveTheReconvergencePoint) {
  const std::string reachable = Matcher("    default: return node[3] - node[0];");
  const std::string unreachable =
      Matcher("    case 3: return node[3] - node[0];\n    default: __builtin_unreachable();");
  for (const char* optimization : {"-O0", "-O1", "-O2"}) {
    CompileOptions options;
    options.optimization = optimization;
    const Snippet without = MustRead(reachable, ".cu", options);
    const Snippet with = MustRead(unreachable, ".cu", options);
    for (const Snippet* snippet : {&without, &with}) {
      for (uint32_t block : snippet->Ending(v1::BRANCH_CONDITIONAL)) {
        EXPECT_GE(snippet->PostDominator(block), 0) << optimization << ", branch " << block;
      }
    }
    // The lowering of the switch compares with what can come, and with nothing else.
    EXPECT_LE(with.Ending(v1::BRANCH_CONDITIONAL).size(), without.Ending(v1::BRANCH_CONDITIONAL).size())
        << optimization;
  }
}

// Where it is reached by a branch of its own, as behind a test of the program's.
TEST(StaticProgram, BranchesToUnreachableAreMarked) {
  const Snippet snippet = MustRead(R"(__device__ __attribute__((noinline)) void never() { __builtin_unreachable(); }
__global__ void k(int* a, int n) {
  for (int j = 0; j < n; ++j) {
    if (a[j + threadIdx.x] > 7) {
      a[j] = 3;
      if (a[j + 1] == 5) {
        asm volatile("membar.gl;");
        never();
      }
    }
    a[j + 200] += j;
  }
})",
                                   ".cu", [] {
                                     CompileOptions options;
                                     options.optimization = "-O0";
                                     return options;
                                   }());
  size_t marked = 0;
  for (const v1::Instruction& end : snippet.All(v1::OP_EXIT)) marked += (end.flags() & v1::FLAG_CANNOT_RETURN) != 0;
  EXPECT_GT(marked, 0u);
  for (uint32_t block : snippet.Ending(v1::BRANCH_CONDITIONAL)) {
    EXPECT_GE(snippet.PostDominator(block), 0) << "branch " << block;
  }
}

// As with a trap in its place: who calls the function does not come back.
TEST(StaticProgram, CallsThatNeverComeBackDoNotMoveTheReconvergencePoint) {
  const Snippet snippet = MustRead(R"(__device__ __attribute__((noinline)) void fail(int* a) {
  a[7] = 1;
  asm volatile("trap;");
}
__device__ __attribute__((noinline)) void report(int* a) { a[8] = 2; fail(a); }
__global__ void k(int* a, int n) {
  for (int j = 0; j < n; ++j) {
    if (a[j + threadIdx.x] > 7) {
      if (a[j + 1] == 5) {
        report(a);
        return;
      }
      a[j + 300] = 3;
    }
    a[j + 200] += j;
  }
})");
  for (uint32_t line : {8, 9}) {  // within the loop
    const int meet = snippet.PostDominator(snippet.BlockOfLine(line));
    ASSERT_GE(meet, 0) << "line " << line;
    EXPECT_GT(snippet.program().block(meet).loop_depth(), 0u) << "line " << line;
  }
  for (uint32_t block : snippet.Ending(v1::CALL)) {
    const v1::BasicBlock& at = snippet.program().block(block);
    const v1::Instruction& call = snippet.program().instruction(at.first_instruction() + at.instruction_count() - 1);
    EXPECT_TRUE(call.flags() & v1::FLAG_CANNOT_RETURN) << "call in block " << block;
  }
}

TEST(StaticProgram, LoopsWithoutAnExitDoNotMoveTheReconvergencePoint) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a) {
  int i = threadIdx.x;
  if (a[i] > 0) {
    if (a[i + 50] == 4) {
      while (true) {
        if (atomicAdd(a + 7, 1) > 100) atomicAdd(a + 8, 1);
      }
    }
    a[i + 100] = 1;
  }
  a[i + 200] = 2;
})");
  EXPECT_GE(snippet.PostDominator(snippet.BlockOfLine(3)), 0);
  EXPECT_GE(snippet.PostDominator(snippet.BlockOfLine(4)), 0);
  // A kernel without an end has its reconvergence points within the loop.
  const Snippet endless = MustRead(R"(__global__ void k(int* a) {
  while (true) {
    if (atomicAdd(a + 7, 1) > 100) atomicAdd(a + 8, 1);
    atomicAdd(a + 9, 1);
  }
})");
  const std::vector<uint32_t> branches = endless.Ending(v1::BRANCH_CONDITIONAL);
  ASSERT_FALSE(branches.empty());
  for (uint32_t branch : branches) EXPECT_GE(endless.PostDominator(branch), 0);
}

TEST(StaticProgram, UniformBranchesAreMarked) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a, int n) {
  if (n > 5) a[0] = 1;
  if (threadIdx.x > 5) a[1] = 1;
})");
  std::vector<bool> uniform;
  for (const v1::Instruction& branch : snippet.All(v1::OP_BRANCH)) {
    if (branch.src_size() > 0) uniform.push_back(branch.flags() & v1::FLAG_UNIFORM);
  }
  EXPECT_EQ(uniform, (std::vector<bool>{true, false}));
}

TEST(StaticProgram, OnlyWhatDoesNotDependOnTheBlockIsHoistable) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a, int n) {
  int t = threadIdx.x * n + 3;
  int b = blockIdx.x * n;
  a[t ^ b] = (t * t) ^ b;
})");
  bool some = false;
  for (const v1::Instruction& instruction : snippet.program().instruction()) {
    const bool hoistable = instruction.flags() & v1::FLAG_HOISTABLE;
    if (instruction.source_line() == 2 && instruction.op() == v1::OP_INT_MUL) {
      EXPECT_TRUE(hoistable) << instruction.mnemonic();
      some = true;
    }
    if (instruction.source_line() == 3 || instruction.op() == v1::OP_STORE) {
      EXPECT_FALSE(hoistable) << instruction.mnemonic();
    }
  }
  EXPECT_TRUE(some);
}

TEST(StaticProgram, ValuesUnderABlocksDecisionAreNotHoistable) {
  const Snippet snippet = MustRead(R"(__global__ void k(int* a, int n) {
  int t = threadIdx.x;
  int steps = 0;
  for (int j = 0; j < blockIdx.x; ++j) steps += t * j ^ n;
  a[t] = steps;
})");
  for (const v1::Instruction& instruction : snippet.program().instruction()) {
    if (instruction.source_line() == 4 && instruction.op() == v1::OP_INT_MUL) {
      EXPECT_FALSE(instruction.flags() & v1::FLAG_HOISTABLE);
    }
  }
}

TEST(StaticProgram, SameSourceGivesTheSameProgram) {
  const std::string source = R"(__device__ __attribute__((noinline)) float f(float x) { return sinf(x) * x; }
__global__ void k(float* a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = a[i] > 0 ? f(a[i]) : a[i] / 3;
  assert(a[0] > 0);
})";
  const Snippet first = MustRead(source), second = MustRead(source);
  EXPECT_EQ(first.program().SerializeAsString(), second.program().SerializeAsString());
  EXPECT_EQ(first.module.ptx, second.module.ptx);
  EXPECT_EQ(first.module.ptx.find("/tmp"), std::string::npos) << "a path is in the PTX";
}

TEST(StaticProgram, SharedAndLocalMemoryAreCounted) {
  const Snippet snippet = MustRead(R"(__shared__ double other[7];
__global__ void unrelated() { other[threadIdx.x] = 1; }
__global__ void k(int* a, int n) {
  __shared__ int tile[64];
  int local[40];
  for (int i = 0; i < 40; ++i) local[i] = a[i];
  tile[threadIdx.x] = local[n] + local[a[0] & 31];
  __syncthreads();
  a[threadIdx.x] = tile[threadIdx.x ^ 1];
})");
  EXPECT_EQ(snippet.program().static_shared_bytes(), 256u);
  EXPECT_EQ(snippet.program().local_bytes(), 160u);
}

TEST(StaticProgram, EndlessLoopWithoutDecisionIsRefused) {
  const absl::StatusOr<Snippet> snippet = ReadText(R"(__global__ void k(volatile int* a) {
  if (a[0]) while (true) a[threadIdx.x] = 1;
})");
  // Either the format or the front end must name it; a program with such a loop has no finite path.
  if (snippet.ok()) {
    for (const v1::BasicBlock& block : snippet->program().block())
      EXPECT_NE(block.terminator(), v1::TERMINATOR_UNSPECIFIED);
  } else {
    EXPECT_THAT(std::string(snippet.status().message()), HasSubstr("endless loop"));
  }
}

TEST(StaticProgram, KernelsAreListedAndFoundByName) {
  absl::StatusOr<CanonicalModule> module =
      CanonicalText(R"(template <typename T> __global__ void twice(T* a) { *a += *a; }
template __global__ void twice<int>(int*);
__global__ void once(int* a) { *a = 1; })");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(ListKernels(*module), SizeIs(2));
  EXPECT_TRUE(ReadKernel(*module, "once").ok());
  EXPECT_TRUE(ReadKernel(*module, "twice").ok());
  const absl::Status missing = ReadKernel(*module, "thrice").status();
  EXPECT_THAT(std::string(missing.message()), HasSubstr("once"));
}

}  // namespace
}  // namespace heddle::tracegen
