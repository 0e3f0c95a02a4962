// Blocks that run in several processes give what they give one after the other, to the byte, whatever they do.
#include "tracegen/execute/parallel/parallel_blocks.h"

#include <cstdlib>
#include <utility>

#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

using ::testing::HasSubstr;

class SpreadBlocks : public CaptureTest {
 protected:
  SpreadBlocks() {
    setenv(kSpreadAfterVariable, "0", 1);
    options_.check = false;
  }
  ~SpreadBlocks() override { unsetenv(kSpreadAfterVariable); }

  struct Outcome {
    absl::StatusOr<CaptureSummary> summary;
    std::string trace;
    std::string printed;
  };
  Outcome Run(const std::string& source, const std::string& recipe, unsigned jobs) {
    options_.threads = options_.jobs = jobs;
    testing::internal::CaptureStdout();
    Outcome outcome{Capture(source, recipe), "", ""};
    outcome.printed = testing::internal::GetCapturedStdout();
    if (outcome.summary.ok()) outcome.trace = Read(options_.output);
    return outcome;
  }
  // Every capture also compares memory with that of a run without recording, one block after the other. Returns what
  // was done in other processes.
  CaptureSummary ExpectSame(const std::string& source, const std::string& recipe) {
    const Outcome alone = Run(source, recipe, 1);
    EXPECT_TRUE(alone.summary.ok()) << alone.summary.status();
    CaptureSummary last;
    for (const unsigned jobs : {2u, 5u}) {
      SCOPED_TRACE(jobs);
      const Outcome spread = Run(source, recipe, jobs);
      EXPECT_TRUE(spread.summary.ok()) << spread.summary.status();
      if (!alone.summary.ok() || !spread.summary.ok()) return last;
      EXPECT_FALSE(alone.trace.empty());
      EXPECT_TRUE(spread.trace == alone.trace) << "the traces differ";
      EXPECT_EQ(spread.printed, alone.printed);
      EXPECT_EQ(spread.summary->warnings, alone.summary->warnings);
      last = *spread.summary;
    }
    return last;
  }
  void ExpectSameFailure(const std::string& source, const std::string& recipe, const std::string& part) {
    const Outcome alone = Run(source, recipe, 1);
    const Outcome spread = Run(source, recipe, 4);
    ASSERT_FALSE(alone.summary.ok());
    EXPECT_THAT(std::string(alone.summary.status().message()), HasSubstr(part));
    EXPECT_EQ(alone.summary.status(), spread.summary.status());
    EXPECT_EQ(spread.printed, alone.printed);
    ExpectNothingWritten();
  }
  static std::string Launch(uint32_t blocks, uint32_t threads, const std::string& more = "") {
    return IntRecipe(blocks, threads, std::vector<double>(4096, 0), more);
  }
};

TEST_F(SpreadBlocks, OfAMap) {
  const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int n = 0; n < (i & 15); ++n) out[i] += n * blockIdx.x;
})",
                                            Launch(100, 32));
  EXPECT_GT(summary.ranges_committed, 3u);
  EXPECT_EQ(summary.ranges_discarded, 0u);
  EXPECT_TRUE(summary.notes.empty());
}

TEST_F(SpreadBlocks, WhoseResultsAreNeighboursInMemory) {
  const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  char* bytes = reinterpret_cast<char*>(out);
  bytes[blockIdx.x] = bytes[blockIdx.x] + 3 * blockIdx.x;
})",
                                            Launch(200, 1));
  EXPECT_EQ(summary.ranges_discarded, 0u) << "one byte each";
}

TEST_F(SpreadBlocks, ThatOverwriteOneAnother) {
  const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  out[threadIdx.x] = blockIdx.x;
  out[32 + blockIdx.x % 7] = blockIdx.x;
})",
                                            Launch(60, 32));
  EXPECT_EQ(summary.ranges_discarded, 0u) << "the last block's are kept, in order";
}

TEST_F(SpreadBlocks, WithBarriersAndSharedMemory) {
  const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = out[blockIdx.x * 64 + t] + t * blockIdx.x;
  for (int step = 32; step > 0; step /= 2) {
    __syncthreads();
    if (t < step) s[t] += s[t + step];
  }
  if (t == 0) out[blockIdx.x] = s[0];
})",
                                            Launch(50, 64));
  EXPECT_GT(summary.ranges_committed, 0u);
}

TEST_F(SpreadBlocks, ThatCountTogether) {
  const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  int ticket = atomicAdd(out, 1);
  if (ticket % 3 == 0) out[1 + ticket % 1000] = blockIdx.x;
})",
                                            Launch(100, 16));
  EXPECT_EQ(summary.ranges_discarded, 2u) << "given up after two";
  ASSERT_EQ(summary.notes.size(), 1u);
  EXPECT_THAT(summary.notes[0], HasSubstr("its blocks depend on one another"));
}

TEST_F(SpreadBlocks, ThatReadWhatTheOneBeforeLeft) {
  const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  out[blockIdx.x + 1] = out[blockIdx.x] * 3 + 1;
})",
                                            Launch(300, 1, "repeat: 3"));
  EXPECT_EQ(summary.ranges_discarded, 2u) << "not tried again in later launches";
}

TEST_F(SpreadBlocks, OfWhichOnlyTheLastDependsOnAnother) {
  const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  int i = blockIdx.x;
  out[i] = i;
  if (i == gridDim.x - 1) {
    for (int n = 0; n < i; ++n) out[1000] += out[n];
  }
})",
                                            Launch(400, 1));
  EXPECT_EQ(summary.ranges_discarded, 1u);
  EXPECT_GT(summary.ranges_committed, 3u);
}

TEST_F(SpreadBlocks, ThatAreCutInTime) {
  for (const uint64_t part : {500, 3000}) {
    options_.part_instructions = part;
    options_.part_accesses = part / 4;
    const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  __shared__ int s[40];
  int t = threadIdx.x, sum = 0;
  for (int round = 0; round < 4 + blockIdx.x % 3; ++round) {
    s[t] = sum + round;
    __syncthreads();
    for (int i = 0; i < (t & 7) + round; ++i) sum += s[(t + i) % 40] ^ out[blockIdx.x * 40 + t];
    __syncthreads();
    out[blockIdx.x * 40 + t] = sum;
  }
})",
                                              Launch(40, 40));
    EXPECT_GT(summary.ranges_committed, 0u);
    EXPECT_EQ(summary.ranges_discarded, 0u);
  }
}

TEST_F(SpreadBlocks, WithArraysOfTheirOwn) {
  const std::string body = R"(
  for (int n = 0; n < 20; ++n) a[(n * 7 + threadIdx.x) % 16] += n;
  int sum = 0;
  for (int n = 0; n < 16; ++n) sum += a[(n + out[blockIdx.x]) & 15] * n;
  out[i] = sum;
})";
  const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int a[16];
  for (int n = 0; n < 16; ++n) a[n] = n ^ i;)" + body,
                                            Launch(60, 16));
  EXPECT_GT(summary.ranges_committed, 0u);
}

TEST_F(SpreadBlocks, WithArraysThatHoldWhatEarlierBlocksLeft) {
  options_.compare_with_native = false;
  const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  volatile int a[64];
  out[blockIdx.x] = a[blockIdx.x % 64];
  a[(blockIdx.x * 5 + 1) % 64] = blockIdx.x;
})",
                                            Launch(90, 1));
  EXPECT_GT(summary.ranges_discarded, 0u);
}

TEST_F(SpreadBlocks, ThatPrintAllocateAndReadTheClock) {
  EXPECT_GT(ExpectSame(R"(
extern "C" __device__ int printf(const char*, ...);
__global__ void k(int* out) { if (blockIdx.x % 9 == 8) printf("block %d\n", blockIdx.x); out[blockIdx.x] = 1; })",
                       Launch(40, 1))
                .ranges_discarded,
            0u);
  EXPECT_EQ(ExpectSame(R"(
__global__ void k(int* out) {
  int* piece = static_cast<int*>(malloc(40 + blockIdx.x));
  piece[0] = blockIdx.x;
  out[blockIdx.x] = static_cast<int>(reinterpret_cast<unsigned long>(piece)) + piece[0];
  if (blockIdx.x % 3 != 0) free(piece);
})",
                       Launch(40, 1))
                .ranges_committed,
            0u);
  ExpectSame("__global__ void k(int* out) { if (blockIdx.x > 20) out[blockIdx.x] = clock(); }", Launch(40, 1));
}

TEST_F(SpreadBlocks, ThatAreWarnedAbout) {
  const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (blockIdx.x == 50) s[t] = 1;
  if (blockIdx.x > 40) out[blockIdx.x] = s[31 - t];
  if (blockIdx.x == 60) out[61] = 100 / out[62];
  if (blockIdx.x == 70) out[70] += out[4096 + 10];
})",
                                            Launch(100, 32));
  EXPECT_EQ(summary.warnings.size(), 4u);
}

// What a process has warned about in a range that was thrown away has not been told.
TEST_F(SpreadBlocks, ThatAreWarnedAboutAndDependOnOneAnother) {
  const CaptureSummary summary = ExpectSame(R"(
__global__ void k(int* out) {
  int i = blockIdx.x;
  out[i] = i % 10 == 3 ? out[i - 1] : i;
  if (i % 4 == 0 && i > 12) out[i + 1000] = 100 / out[i + 500];
  if (i % 5 == 0 && i > 20) out[i] += out[4096 + i];
})",
                                            Launch(200, 1));
  EXPECT_EQ(summary.warnings.size(), 2u);
  EXPECT_GT(summary.ranges_discarded, 0u);
}

TEST_F(SpreadBlocks, OfWhichOneFails) {
  ExpectSameFailure(R"(
__global__ void k(int* out) {
  out[blockIdx.x] = 1;
  if (blockIdx.x == 37 || blockIdx.x == 90) *reinterpret_cast<int*>(0x10 + out[2000]) = 5;
})",
                    Launch(100, 4), "block (37,0,0)");
  ExpectSameFailure(R"(
#include <assert.h>
extern "C" __device__ int printf(const char*, ...);
__global__ void k(int* out) { printf("%d ", blockIdx.x); if (blockIdx.x == 70) __trap(); out[blockIdx.x] = 1; })",
                    Launch(100, 1), "trap");
}

TEST_F(SpreadBlocks, UpToTheLimitOnInstructions) {
  const std::string source = R"(
__global__ void k(int* out) { for (int i = 0; i < 200; ++i) out[blockIdx.x] += out[i + 2000] + i; })";
  options_.compare_with_native = false;
  options_.part_instructions = 1000;
  options_.part_accesses = 1000;
  options_.max_instructions = 30'000;
  ExpectSameFailure(source, Launch(1000, 1), "limit of 30000");
}

// Threads read and write at random places, of which there are few or many.
TEST_F(SpreadBlocks, AtRandom) {
  for (int seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    const int places = seed % 3 == 0 ? 4000 : seed % 3 == 1 ? 200 : 1000;
    ExpectSame(absl::StrCat(R"(
__device__ unsigned Mix(unsigned x) { x ^= x >> 15; x *= 0x2c1b3c6du; x ^= x >> 12; return x * 0x297a2d39u; }
__global__ void k(int* out) {
  unsigned h = Mix(blockIdx.x * 977 + threadIdx.x + )",
                            seed * 7919, R"();
  for (int n = 0; n < (h & 3); ++n) {
    h = Mix(h + n);
    int i = h % )",
                            places, R"(;
    if ((h >> 20) % 4 == 0) out[i] = h;
    else if ((h >> 20) % 4 == 1) reinterpret_cast<short*>(out)[2 * i] += 3;
    else if (out[i] & 1) out[1 + blockIdx.x] ^= h;
    if ((h >> 25) == 5) atomicMax(out + i, (int)h);
  }
})"),
               Launch(80, 1 + seed % 4));
  }
}

}  // namespace
}  // namespace heddle::tracegen
