// Threads that wait for one another, and blocks that are cut in time.
#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

TEST_F(CaptureTest, StaticSharedMemoryAcrossABarrier) {
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = 3 * threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
})",
           [] {
             std::vector<double> expected;
             for (int i = 0; i < 64; ++i) expected.push_back(3 * (63 - i));
             return IntRecipe(1, 64, expected);
           }());
  EXPECT_EQ(Count(trace::v1::OP_BARRIER), 1);
  EXPECT_EQ(reader_->programs()[0].proto().static_shared_bytes(), 256);
}

TEST_F(CaptureTest, DynamicSharedMemoryFollowsTheStaticOne) {
  Succeeds(R"(
extern __shared__ int dynamic[];
__global__ void k(int* out) {
  __shared__ int fixed[4];
  fixed[threadIdx.x] = threadIdx.x;
  dynamic[threadIdx.x] = 10;
  __syncthreads();
  out[threadIdx.x] = fixed[3 - threadIdx.x] + dynamic[threadIdx.x ^ 1];
})",
           IntRecipe(1, 4, {13, 12, 11, 10}, "dynamic_shared_bytes: 16"));
}

TEST_F(CaptureTest, SharedMemoryIsZeroWhenABlockBegins) {
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ volatile int s[2];
  out[blockIdx.x] = s[0];
  s[0] = 7;
  __syncthreads();
  out[blockIdx.x] += s[1] + (s[0] == 7);
})",
           IntRecipe(3, 1, {1, 1, 1}));
}

TEST_F(CaptureTest, ExitedThreadsCountAsArrivedAtBarriers) {
  expected_warning_ = "barrier-counts";
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int s;
  if (threadIdx.x >= 5) return;
  if (threadIdx.x == 0) s = 42;
  __syncthreads();
  out[threadIdx.x] = s;
})",
           IntRecipe(1, 40, {42, 42, 42, 42, 42}));
}

TEST_F(CaptureTest, BarriersInLoopsWithManyThreads) {
  std::vector<double> expected(256, 0);
  for (double& e : expected) e = 256.0 * 20 / 2;
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int s[256];
  int sum = 0;
  for (int round = 0; round < 20; ++round) {
    s[threadIdx.x] = (threadIdx.x + round) & 1;
    __syncthreads();
    for (int i = 0; i < 256; ++i) sum += s[i];
    __syncthreads();
  }
  out[threadIdx.x] = sum;
})",
           IntRecipe(1, 256, expected));
}

TEST_F(CaptureTest, BarrierReductionsCountVotes) {
  Succeeds(R"(
__global__ void k(int* out) {
  int odd = threadIdx.x & 1;
  int count = __nvvm_bar0_popc(odd);
  int all = __nvvm_bar0_and(odd);
  int any = __nvvm_bar0_or(odd);
  if (threadIdx.x == 0) { out[0] = count; out[1] = all != 0; out[2] = any != 0; }
})",
           IntRecipe(1, 70, {35, 0, 1}));
}

TEST_F(CaptureTest, ShufflesMoveValuesBetweenLanes) {
  std::vector<double> expected;
  for (int i = 0; i < 32; ++i) expected.push_back(i + 1 < 32 ? i + 1 : 31);
  for (int i = 0; i < 32; ++i) expected.push_back(i >= 2 ? i - 2 : i);
  for (int i = 0; i < 32; ++i) expected.push_back(i ^ 5);
  for (int i = 0; i < 32; ++i) expected.push_back((i / 8) * 8 + 3);
  Succeeds(R"(
__global__ void k(int* out) {
  int lane = threadIdx.x;
  out[lane] = __nvvm_shfl_sync_down_i32(0xffffffff, lane, 1, 31);
  out[32 + lane] = __nvvm_shfl_sync_up_i32(0xffffffff, lane, 2, 0);
  out[64 + lane] = __nvvm_shfl_sync_bfly_i32(0xffffffff, lane, 5, 31);
  out[96 + lane] = __nvvm_shfl_sync_idx_i32(0xffffffff, lane, 3, ((32 - 8) << 8) | 31);
})",
           IntRecipe(1, 32, expected));
  EXPECT_EQ(Count(trace::v1::OP_WARP), 4);
  EXPECT_EQ(reader_->header().warp_width(), 32);
  EXPECT_TRUE(reader_->programs()[0].proto().uses_warp_operations());
}

TEST_F(CaptureTest, VotesSeeTheirMaskOnly) {
  Succeeds(R"(
__global__ void k(int* out) {
  int lane = threadIdx.x & 31;
  unsigned mask = lane < 16 ? 0xffff : 0xffff0000;
  unsigned ballot = __nvvm_vote_ballot_sync(mask, lane % 3 == 0);
  int all = __nvvm_vote_all_sync(mask, lane < 16);
  int any = __nvvm_vote_any_sync(mask, lane == 20);
  if (threadIdx.x == 33) { out[0] = ballot; out[1] = all; out[2] = any; }
  if (threadIdx.x == 50) { out[3] = ballot; out[4] = all; out[5] = any; }
})",
           IntRecipe(1, 64, {0x9249, 1, 0, 0x49240000, 0, 1}));
}

TEST_F(CaptureTest, ActiveMaskSeesTheLanesOfItsBranch) {
  Succeeds(R"(
__global__ void k(int* out) {
  unsigned mask = 0;
  if (threadIdx.x % 4 == 1) mask = __nvvm_activemask();
  if (mask != 0) out[threadIdx.x / 4] = mask;
})",
           IntRecipe(1, 16, {0x2222, 0x2222, 0x2222, 0x2222}));
}

TEST_F(CaptureTest, ExitedLanesAreLeftOutOfWarpOperations) {
  Succeeds(R"(
__global__ void k(int* out) {
  if (threadIdx.x >= 20) return;
  out[0] = __nvvm_vote_ballot_sync(0xffffffff, 1);
})",
           IntRecipe(1, 32, {0xfffff}));
}

TEST_F(CaptureTest, AtomicsAddUp) {
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int local;
  if (threadIdx.x == 0) local = 0;
  __syncthreads();
  __nvvm_atom_add_gen_i(&local, 1);
  __nvvm_atom_max_gen_i(&out[1], threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) __nvvm_atom_add_gen_i(&out[0], local);
})",
           IntRecipe(4, 48, {192, 47}));
  EXPECT_GE(Count(trace::v1::OP_ATOMIC), 3);
}

// --- blocks that do not fit a chunk
// ---------------------------------------------------------------------------------------

class TimeCutTest : public CaptureTest {
 protected:
  TimeCutTest() { options_.part_instructions = 4096; }

  uint64_t Parts() const {
    uint64_t parts = 0;
    for (const auto& chunk : reader_->launches()[0].chunks) parts = std::max<uint64_t>(parts, chunk.part() + 1);
    return parts;
  }
};

constexpr char kLongLoop[] = R"(
__global__ void k(int* out, const int* in) {
  int sum = 0;
  for (int i = 0; i < 300 + 7 * (int)threadIdx.x; ++i) sum += in[(i * 5 + threadIdx.x) & 63];
  out[threadIdx.x] = sum;
})";
constexpr char kLongLoopRecipe[] = R"(
buffer { name: "out" type: I32 count: 64 }
buffer { name: "in" type: I32 count: 64 fill { permutation { seed: 3 } } }
launch { kernel: "k" grid { x: 2 } block { x: 64 } argument { buffer: "out" } argument { buffer: "in" } })";

TEST_F(TimeCutTest, ALongBlockIsCutIntoPartsThatHoldTheSame) {
  CaptureSummary cut = Succeeds(kLongLoop, kLongLoopRecipe);
  EXPECT_GT(Parts(), 10);
  options_.part_instructions = 0;
  CaptureSummary whole = Succeeds(kLongLoop, kLongLoopRecipe);
  EXPECT_EQ(Parts(), 1);
  EXPECT_EQ(cut.thread_instructions, whole.thread_instructions);
  EXPECT_EQ(cut.accesses, whole.accesses);
  EXPECT_EQ(cut.threads, whole.threads);
}

TEST_F(TimeCutTest, LongUnrecordedLaunchesLeaveNoTrace) {
  CaptureSummary twice = Succeeds(kLongLoop, absl::StrCat(kLongLoopRecipe, R"(
launch { kernel: "k" grid { x: 2 } block { x: 64 } argument { buffer: "out" } argument { buffer: "in" } unrecorded: true })"));
  EXPECT_EQ(twice.threads, 128);
  EXPECT_EQ(twice.launches, 2);
}

TEST_F(TimeCutTest, CutByAccesses) {
  options_.part_instructions = 0;
  options_.part_accesses = 500;
  Succeeds(kLongLoop, kLongLoopRecipe);
  EXPECT_GT(Parts(), 10);
}

TEST_F(TimeCutTest, ThreadsThatWaitAtBarriersKeepTheirRecords) {
  // The store of the last block is outstanding while its thread waits: its address is written after the cut.
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int s[128];
  int sum = 0;
  for (int round = 0; round < 40; ++round) {
    s[threadIdx.x] = round + threadIdx.x;
    __syncthreads();
    sum += s[(threadIdx.x + 1) & 127];
    __syncthreads();
  }
  __syncthreads();
  out[threadIdx.x] = sum;
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] += s[127 - threadIdx.x];
})",
           [] {
             std::vector<double> expected;
             for (int t = 0; t < 128; ++t) expected.push_back(40 * ((t + 1) % 128) + 780 + 1);
             return IntRecipe(2, 128, expected);
           }());
  EXPECT_GT(Parts(), 3);
}

TEST_F(TimeCutTest, StraightLineBlocksWithManyThreads) {
  options_.part_instructions = 256;
  std::vector<double> expected(512, 36);
  Succeeds(R"(
__global__ void k(int* out) {
  volatile int* p = out + threadIdx.x;
  *p = 1; *p += 2; *p += 3; *p += 4; *p += 5; *p += 6; *p += 7; *p += 8;
})",
           IntRecipe(1, 512, expected));
  EXPECT_GT(Parts(), 4);
}

TEST_F(TimeCutTest, CallsAreCutAtAnyDepth) {
  Succeeds(R"(
__device__ __attribute__((noinline)) int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void k(int* out) { out[threadIdx.x] = fib(8 + threadIdx.x); })",
           IntRecipe(1, 4, {21, 34, 55, 89}));
  EXPECT_GT(Parts(), 1);
}

TEST_F(CaptureTest, ThreadsThatSpinOnEachOtherArePreempted) {
  options_.compare_with_native = false;  // without recording nothing interrupts a spin
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ volatile int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  while (turn != 63 - (int)threadIdx.x) {}
  out[turn] = threadIdx.x;
  turn = turn + 1;
})",
           [] {
             std::vector<double> expected;
             for (int i = 0; i < 64; ++i) expected.push_back(63 - i);
             return IntRecipe(1, 64, expected);
           }());
}

}  // namespace
}  // namespace heddle::tracegen
