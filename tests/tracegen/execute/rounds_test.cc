// Threads that leave frames at barriers run, record and fail as on stacks of their own.
#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

using ::testing::HasSubstr;

class Rounds : public CaptureTest {
 protected:
  Rounds() { options_.check = false; }

  // The bytes of the trace that a kernel gives, made either way.
  std::string Trace(const std::string& source, const std::string& recipe, bool own_stacks) {
    options_.own_stacks = own_stacks;
    const absl::StatusOr<CaptureSummary> summary = Capture(source, recipe);
    EXPECT_TRUE(summary.ok()) << summary.status();
    return summary.ok() ? Read(options_.output) : "";
  }
  // Captures `k` both ways, whole and cut in time at various places.
  void ExpectSame(const std::string& source, const std::string& recipe) {
    for (const uint64_t part : {0, 300, 1000, 5000, 20000}) {
      SCOPED_TRACE(part);
      options_.part_instructions = part;
      options_.part_accesses = part / 4;
      const std::string stacks = Trace(source, recipe, true);
      EXPECT_FALSE(stacks.empty());
      EXPECT_TRUE(Trace(source, recipe, false) == stacks);
    }
  }
  void ExpectSameFailure(const std::string& source, const std::string& recipe, const std::string& part) {
    std::string messages[2];
    for (const bool own_stacks : {false, true}) {
      options_.own_stacks = own_stacks;
      const absl::StatusOr<CaptureSummary> summary = Capture(source, recipe);
      ASSERT_FALSE(summary.ok());
      messages[own_stacks] = std::string(summary.status().message());
    }
    EXPECT_EQ(messages[0], messages[1]);
    EXPECT_THAT(messages[0], HasSubstr(part));
  }
  static std::string Launch(uint32_t blocks, uint32_t threads, const std::string& more = "") {
    return IntRecipe(blocks, threads, std::vector<double>(2048, 0), more);
  }
};

TEST_F(Rounds, BarriersInLoopsAndBranches) {
  ExpectSame(R"(
__global__ void k(int* out) {
  __shared__ int s[96];
  int t = threadIdx.x, sum = t;
  for (int round = 0; round < 7; ++round) {
    s[t] = sum + round;
    __syncthreads();
    for (int i = 0; i < (t & 7) + round; ++i) sum += s[(t + i) % 96];
    if (round % 3 != blockIdx.x % 3) {
      __syncthreads();
      sum ^= s[95 - t];
    }
    __syncthreads();
  }
  out[blockIdx.x * 96 + t] = sum;
})",
             Launch(5, 96));
}

TEST_F(Rounds, ThreadsThatEndBeforeOthersDo) {
  options_.compare_with_native = false;  // races are deliberate: without recording threads take turns elsewhere
  ExpectSame(R"(
__global__ void k(int* out) {
  __shared__ int s[80];
  int t = threadIdx.x;
  s[t] = t;
  for (int round = 0; round < 10; ++round) {
    if (t % 10 < round && (t + round) % 3 == 0) return;
    s[t] += s[(t + round) % 80];
    __syncthreads();
    if (t == 79 - round) return;
    out[round * 80 + t] = s[(t * 7) % 80];
    __syncthreads();
  }
})",
             Launch(2, 80));
}

// The order of atomics is the order of the threads.
TEST_F(Rounds, ThreadsTakeTurnsInTheSameOrder) {
  options_.compare_with_native = false;
  ExpectSame(R"(
__device__ int turn;
__global__ void k(int* out) {
  for (int round = 0; round < 9; ++round) {
    out[atomicAdd(&turn, 1) % 2048] = threadIdx.x;
    for (int i = 0; i < out[(threadIdx.x + round) % 2048] % 5; ++i) atomicAdd(&turn, round & 1);
    __syncthreads();
    if (round == 5 && turn % 64 == threadIdx.x) return;
  }
})",
             Launch(3, 64));
}

TEST_F(Rounds, WarpOperationsBetweenBarriers) {
  ExpectSame(R"(
__global__ void k(int* out) {
  __shared__ int s[4];
  int t = threadIdx.x, value = t * 3;
  for (int round = 0; round < 4; ++round) {
    for (int i = 16; i > 0; i /= 2) value += __nvvm_shfl_sync_bfly_i32(0xffffffff, value, i, 31);
    if (t % 32 == 0) s[t / 32] = value;
    __syncthreads();
    value = s[(t / 32 + round) % 4] + t;
    __syncthreads();
  }
  out[t] = value;
})",
             Launch(1, 128));
}

TEST_F(Rounds, ReductionsAndBarriersForSomeOfTheThreads) {
  ExpectSame(R"(
__global__ void k(int* out) {
  int t = threadIdx.x, sum = 0;
  for (int round = 0; round < 5; ++round) {
    sum += __nvvm_bar0_popc(t % (round + 2) == 0);
    if (__nvvm_bar0_or(t == 200 + round) != 0) sum += 1000;
    if (__nvvm_bar0_and(t != 3 * round) != 0) sum += 10000;
    if (t < 64) __nvvm_barrier_sync_cnt(1, 64);
    else if (t < 128) __nvvm_barrier_sync_cnt(2 + (round & 1), 64);
    out[t] = sum;
  }
})",
             Launch(2, 160));
}

TEST_F(Rounds, DifferentPlacesOfOneBarrier) {
  ExpectSame(R"(
__global__ void k(int* out) {
  int t = threadIdx.x, sum = 0;
  for (int round = 0; round < 5; ++round) {
    if ((t + round) % 3 == 0) { __syncthreads(); ++sum; } else { __syncthreads(); sum += out[t + 1] & 3; }
    if (t % 2 == 0) sum += __nvvm_bar0_popc(t % (round + 2) == 0);
    else sum += 3 * __nvvm_bar0_popc(t % 5 == 0);
    if (t / 40 == round % 2) __syncthreads();
    else sum += __nvvm_bar0_popc(t % 7 == 0);
  }
  out[t] = sum;
})",
             Launch(2, 80));
}

TEST_F(Rounds, LongAndShortTurns) {
  ExpectSame(R"(
__global__ void k(int* out) {
  int t = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    int steps = t == 17 * round ? 3000 : t % 9;
    for (int i = 0; i < steps; ++i) out[(t + i * 33) % 2048] += i;
    __syncthreads();
  }
})",
             Launch(2, 100));
}

TEST_F(Rounds, LocalArraysAndFunctionsWithBarriers) {
  ExpectSame(R"(
__device__ __noinline__ int Meet(int* shared, int value) {
  shared[threadIdx.x] = value;
  __syncthreads();
  return shared[(threadIdx.x + 1) % blockDim.x];
}
__global__ void k(int* out) {
  __shared__ int s[64];
  int own[8];
  int t = threadIdx.x;
  for (int i = 0; i < 8; ++i) own[i] = t + i;
  for (int round = 0; round < 4; ++round) {
    own[(t + round) & 7] += Meet(s, own[(t * round) & 7]);
    __syncthreads();
    own[(t ^ round) & 7] += s[t ^ 1];
    __syncthreads();
  }
  out[t] = own[t & 7];
})",
             Launch(1, 64));
}

TEST_F(Rounds, SeveralBlocksThatAreLiveAtOnce) {
  ExpectSame(R"(
__global__ void k(int* out) {
  __shared__ int s[48];
  for (int round = 0; round < 6; ++round) {
    s[threadIdx.x] = round + blockIdx.x;
    __syncthreads();
    out[atomicAdd(&out[2047], 1) % 2000] = s[47 - threadIdx.x];
    __syncthreads();
  }
})",
             "resident_blocks: 3\n" + Launch(7, 48));
}

TEST_F(Rounds, SameErrors) {
  const std::string divergent = R"(
__global__ void k(int* out) {
  if (threadIdx.x < 40) { __nvvm_barrier_sync(0); out[0] = 1; }
  else { __nvvm_barrier_sync(1); out[1] = 1; }
})";
  ExpectSameFailure(divergent, Launch(1, 64), "threads wait for others that never come");
  ExpectSameFailure("__global__ void k(int* out) { __syncthreads(); if (threadIdx.x == 9) __nvvm_barrier_sync(16); }",
                    Launch(1, 32), "does not exist");
  ExpectSameFailure(R"(
__global__ void k(int* out) {
  out[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 21) out[1ll << 40] = 1;
  __syncthreads();
})",
                    Launch(2, 32), "thread (21,0,0)");
  ExpectSameFailure(R"(
__global__ void k(int* out) {
  for (int i = 0; ; ++i) {
    __syncthreads();
    if (i == 7 && threadIdx.x == 5) __builtin_trap();
  }
})",
                    Launch(1, 32), "trap");
}

TEST_F(Rounds, ExitInTheMiddle) {
  ExpectSame(R"(
__global__ void k(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = 5;
  __syncthreads();
  if (threadIdx.x % 4 == 1) asm volatile("exit;");
  out[threadIdx.x] = s[31 - threadIdx.x];
  __syncthreads();
  out[32 + threadIdx.x] = s[threadIdx.x];
})",
             Launch(2, 32));
}

TEST_F(Rounds, OtherOrdersAreTheSameToo) {
  options_.certify = 3;
  ExpectSame(R"(
__global__ void k(int* out) {
  __shared__ int s[40];
  s[threadIdx.x] = atomicAdd(out, 1);
  __syncthreads();
  if (s[(threadIdx.x + 1) % 40] % 3 == 0) out[1 + threadIdx.x] = s[threadIdx.x];
  __syncthreads();
  out[100 + s[threadIdx.x] % 40] = 2;
})",
             Launch(3, 40));
}

}  // namespace
}  // namespace heddle::tracegen
