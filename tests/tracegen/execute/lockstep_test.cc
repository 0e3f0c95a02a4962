// Warp-synchronous code: detected without --lockstep, captured right with it. And shared memory that nobody has
// written.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/tracegen/execute/capture_fixture.h"
#include "traces/format/limits.h"

namespace heddle::tracegen {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class LockstepTest : public CaptureTest {
 protected:
  // Pairs of source lines that hand data over within warps, in the first launch.
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> HandOffs() const {
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> lines;
    for (const trace::v1::Certificate& certificate : reader_->certificates()) {
      for (const trace::v1::WarpHandOff& hand_off : certificate.hand_off()) {
        const auto line = [&](uint32_t pc) { return reader_->programs()[0].instruction(pc).source_line(); };
        lines[{line(hand_off.writer()), line(hand_off.reader())}] += hand_off.count();
      }
    }
    return lines;
  }
};

// The last steps of a reduction as code for older devices has them: no barrier within a warp.
constexpr char kReduction[] = R"(
__global__ void k(int* out) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  if (threadIdx.x < 32) {
    s[threadIdx.x] += s[threadIdx.x + 32];
    s[threadIdx.x] += s[threadIdx.x + 16];
    s[threadIdx.x] += s[threadIdx.x + 8];
    s[threadIdx.x] += s[threadIdx.x + 4];
    s[threadIdx.x] += s[threadIdx.x + 2];
    s[threadIdx.x] += s[threadIdx.x + 1];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
})";

TEST_F(LockstepTest, AWarpSynchronousReductionIsRightInLockstep) {
  options_.lockstep = true;
  const CaptureSummary summary = Succeeds(kReduction, IntRecipe(2, 64, {64 * 65 / 2, 64 * 65 / 2}));
  EXPECT_THAT(summary.warnings, Not(Contains(HasSubstr("lockstep"))));
  ASSERT_THAT(reader_->certificates(), SizeIs(1));
  EXPECT_TRUE(reader_->certificates()[0].lockstep());
  EXPECT_EQ(reader_->certificates()[0].runs(), 0) << "not certified";
  EXPECT_GT(HandOffs().size(), 0) << "that it relies on lockstep is marked all the same";
}

TEST_F(LockstepTest, WithoutLockstepItIsToldAndMarked) {
  options_.check = false;
  const CaptureSummary summary = Succeeds(kReduction, IntRecipe(2, 64, {0, 0}));
  EXPECT_THAT(summary.warnings, Contains(AllOf(HasSubstr("kernel.cu:"), HasSubstr("--lockstep"))));
  ASSERT_THAT(reader_->certificates(), SizeIs(1));
  EXPECT_FALSE(reader_->certificates()[0].lockstep());
  EXPECT_EQ(reader_->header().minor(), trace::kCertificateMinorVersion) << "older versions do not know hand-offs";
  // What line 7 stores is loaded by line 8 in the thread 16 lanes below, and so on.
  const auto lines = HandOffs();
  for (uint32_t line = 7; line < 12; ++line) {
    EXPECT_TRUE(lines.contains({line, line + 1})) << line;
  }
  EXPECT_FALSE(lines.contains({4, 7})) << "a barrier stands between";
}

TEST_F(LockstepTest, AFaultIsToldWithTheHandOffsInFrontOfIt) {
  options_.compare_with_native = false;  // which would fail first
  const std::string head = "__global__ void k(int* out) {\n  __shared__ volatile int s[64];\n  s[threadIdx.x] = 1;\n";
  const std::string tail =
      "  if (threadIdx.x == 50) s[50] = 2;\n  __syncthreads();\n  if (threadIdx.x == 0) out[static_cast<long "
      "long>(s[0]) << 34] = 1;\n}\n";
  Fails(head + "  if (threadIdx.x < 31) s[threadIdx.x] += s[threadIdx.x + 1];\n" + tail, IntRecipe(1, 64, {0}),
        {"where nothing is allocated at kernel.cu:7",
         "; kernel 'k(int*)': threads of a warp share data without synchronization: what is stored at kernel.cu:3",
         "capture it with --lockstep"});
  const absl::StatusOr<CaptureSummary> summary =
      Capture(head + "  __syncthreads();\n  if (threadIdx.x == 32) s[threadIdx.x] += s[0];\n" + tail,
              IntRecipe(1, 64, {0}), "cu");
  ASSERT_FALSE(summary.ok());
  EXPECT_THAT(summary.status().message(), Not(HasSubstr("lockstep"))) << "nothing was handed over";
}

TEST_F(LockstepTest, SynchronizedWarpsAreNotMarked) {
  const CaptureSummary summary = Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  if (threadIdx.x < 32) {
    int sum = s[threadIdx.x] + s[threadIdx.x + 32];
    for (int step = 16; step > 0; step /= 2) {
      s[threadIdx.x] = sum;
      __syncwarp();
      int other = threadIdx.x < step ? s[threadIdx.x + step] : 0;
      sum += other;
      __syncwarp();
    }
    if (threadIdx.x == 0) out[0] = sum;
  }
})",
                                          IntRecipe(1, 64, {64 * 65 / 2}));
  EXPECT_THAT(summary.warnings, IsEmpty());
  EXPECT_THAT(reader_->certificates(), IsEmpty());
}

TEST_F(LockstepTest, NeighbouringBytesAreDifferentPlaces) {
  const CaptureSummary summary = Succeeds(R"(
__global__ void k(int* out) {
  __shared__ volatile unsigned char s[32];
  s[threadIdx.x] = 2 * threadIdx.x;
  out[threadIdx.x] = s[threadIdx.x];
})",
                                          [] {
                                            std::vector<double> expected;
                                            for (int i = 0; i < 32; ++i) expected.push_back(2 * i);
                                            return IntRecipe(1, 32, expected);
                                          }());
  EXPECT_THAT(summary.warnings, IsEmpty());
  EXPECT_THAT(reader_->certificates(), IsEmpty());
}

TEST_F(LockstepTest, ALaunchMayHaveFewerWarpsThanTheOneBefore) {
  options_.lockstep = true;
  Succeeds(R"(
__global__ void k(volatile int* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x / 32 == 1) for (int i = 0; i < 5; ++i) out[threadIdx.x] = 1;
})",
           IntRecipe(1, 128, std::vector<double>(128, 1),
                     "} launch { kernel: \"k\" grid { x: 1 } block { x: 32 } argument { buffer: \"out\" }"));
}

TEST_F(LockstepTest, AtomicsAmongThemselvesAreNoHandOff) {
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 2);
  __syncthreads();
  if (threadIdx.x == 5) out[0] = count;
})",
           IntRecipe(1, 40, {80}));
  EXPECT_THAT(reader_->certificates(), IsEmpty());
}

// Lanes that are done with a loop wait for the others where the loop ends, as on a device that reconverges there.
TEST_F(LockstepTest, LanesThatLeaveALoopEarlyWaitBehindIt) {
  options_.lockstep = true;
  std::vector<double> expected;
  for (int i = 0; i < 32; ++i) expected.push_back(2 * (31 - i));
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ volatile int s[32];
  s[threadIdx.x] = 0;
  for (int i = 0; i < threadIdx.x; ++i) s[threadIdx.x] = s[threadIdx.x] + 2;
  out[threadIdx.x] = s[31 - threadIdx.x];
})",
           IntRecipe(1, 32, expected));
}

// Both sides of a branch, then the common end: a lane that waits longest must not read early.
TEST_F(LockstepTest, LanesMeetBehindABranch) {
  options_.lockstep = true;
  std::vector<double> expected;
  for (int i = 0; i < 64; ++i) expected.push_back((i ^ 1) % 2 == 0 ? 10 + (i ^ 1) : 20 + (i ^ 1));
  Succeeds(R"(
__device__ __noinline__ void Put(volatile int* place, int value) { *place = value; }
__global__ void k(int* out) {
  __shared__ volatile int s[64];
  if (threadIdx.x % 2 == 0) {
    Put(&s[threadIdx.x], 10 + threadIdx.x);
  } else {
    s[threadIdx.x] = 1;
    s[threadIdx.x] = 2;
    Put(&s[threadIdx.x], 20 + threadIdx.x);
  }
  out[threadIdx.x] = s[threadIdx.x ^ 1];
})",
           IntRecipe(1, 64, expected));
}

TEST_F(LockstepTest, LockstepAndBlocksThatAreCutInTimeGoTogether) {
  options_.lockstep = true;
  options_.part_instructions = 500;
  options_.part_accesses = 200;
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int i = 0; i < 64; ++i) {
    int next = s[(threadIdx.x & 32) + ((threadIdx.x + 1) & 31)];
    s[threadIdx.x] = next;
  }
  out[threadIdx.x] = s[threadIdx.x];
})",
           [] {
             std::vector<double> expected;
             for (int i = 0; i < 64; ++i) expected.push_back(i);  // two turns of 32
             return IntRecipe(1, 64, expected);
           }());
}

// A thread stores to what another one has loaded, whose own load comes behind that.
TEST_F(LockstepTest, AStoreToWhatAnotherThreadHasLoadedIsToldAndMarked) {
  const std::string source = R"(
__global__ void k(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  s[threadIdx.x] += s[threadIdx.x ^ 8];
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
})";
  std::vector<double> expected;
  for (int i = 0; i < 32; ++i) expected.push_back(i + (i ^ 8));
  options_.check = false;
  const CaptureSummary summary = Succeeds(source, IntRecipe(1, 32, expected));
  EXPECT_THAT(summary.warnings, Contains(AllOf(HasSubstr("kernel.cu:6"), HasSubstr("--lockstep"))));
  EXPECT_TRUE(HandOffs().contains({6, 6}));
  options_.check = true;
  options_.lockstep = true;
  Succeeds(source, IntRecipe(1, 32, expected));
  EXPECT_TRUE(HandOffs().contains({6, 6}));
}

// Every thread clears the whole array, then stores its own element.
TEST_F(LockstepTest, AStoreOverThoseOfOtherThreadsIsToldAndMarked) {
  const std::string source = R"(
__global__ void k(int* out) {
  __shared__ volatile int s[32];
  for (int i = 0; i < 32; ++i) s[i] = 0;
  s[threadIdx.x] = threadIdx.x + 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
})";
  std::vector<double> expected;
  for (int i = 0; i < 32; ++i) expected.push_back(i + 1);
  options_.check = false;
  const CaptureSummary summary = Succeeds(source, IntRecipe(1, 32, expected));
  EXPECT_THAT(summary.warnings,
              Contains(AllOf(HasSubstr("stored at kernel.cu:4 is overwritten by other threads at kernel.cu:5"),
                             HasSubstr("--lockstep"))));
  EXPECT_TRUE(HandOffs().contains({5, 4}));
  options_.check = true;
  options_.lockstep = true;
  Succeeds(source, IntRecipe(1, 32, expected));
}

// Threads store over one another, but always the same value, and to places of their own.
TEST_F(LockstepTest, StoresOfTheSameConstantAndToOwnPlacesAreNoHandOff) {
  const CaptureSummary summary = Succeeds(R"(
__global__ void k(int* out) {
  __shared__ volatile int s[64];
  __shared__ volatile int found;
  s[threadIdx.x] = 3;
  s[threadIdx.x + 32] = 4;
  if (threadIdx.x == 3) found = 1;
  s[threadIdx.x] = 5;
  if (threadIdx.x > 20) found = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 32] + found;
})",
                                          IntRecipe(1, 32, std::vector<double>(32, 10)));
  EXPECT_THAT(summary.warnings, IsEmpty());
  EXPECT_THAT(reader_->certificates(), IsEmpty());
}

TEST_F(LockstepTest, ALockThatIsGivenBackBehindTheLoopIsAnErrorAndNoHang) {
  options_.lockstep = true;
  Fails(R"(
__global__ void k(int* out) {
  while (atomicCAS(out, 0, 1) != 0) {
  }
  out[1]++;
  __threadfence();
  atomicExch(out, 0);
})",
        IntRecipe(2, 64, {0, 128}),
        {"kernel 'k(int*)'", "block (0,0,0)", "waits in a loop at kernel.cu:3", "--lockstep"});
}

// Other warps, and threads that are still in the loop, go on while a thread polls in vain.
TEST_F(LockstepTest, WaitsThatOtherWarpsOrTheLoopItselfEndAreOver) {
  options_.lockstep = true;
  Succeeds(R"(
__global__ void k(int* out) {
  volatile int* v = out;
  if (threadIdx.x < 32) {
    while (v[2] == 0) {
    }
  } else {
    for (int i = 0; i < 100; ++i) v[3] = i;
    v[2] = 1;
  }
  int left = 2;
  while (left > 0) {
    if (atomicCAS(out, 0, 1) == 0) {
      v[1] = v[1] + 1;
      __threadfence();
      atomicExch(out, 0);
      --left;
    }
  }
})",
           IntRecipe(1, 64, {0, 128, 1, 99}));
}

TEST_F(LockstepTest, SharedMemoryThatNobodyHasWrittenIsTold) {
  const CaptureSummary summary = Succeeds(R"(
__global__ void k(int* out) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x] +
                     s[threadIdx.x + 32];
})",
                                          IntRecipe(1, 32, std::vector<double>(32, 1)));
  EXPECT_THAT(summary.warnings, SizeIs(1));
  EXPECT_THAT(summary.warnings, Contains(AllOf(HasSubstr("kernel.cu:7"), HasSubstr("no thread of the block"))));
}

}  // namespace
}  // namespace heddle::tracegen
