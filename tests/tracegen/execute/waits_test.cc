// Threads that spin: on locks, flags and barriers, within a block and between blocks that are live at once.
#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

using ::testing::HasSubstr;

const char kFlag[] = R"(
__global__ void k(int* out) {
  volatile int* flag = out;
  if (blockIdx.x == 0) {
    while (flag[0] == 0) {
    }
    out[1] = 5;
  } else {
    flag[0] = 1;
  }
})";

TEST_F(CaptureTest, ASpinThatNobodyEndsIsAnErrorWithItsPlaceAndNoHang) {
  // Block 0 waits for block 1, which begins after it.
  Fails(kFlag, IntRecipe(2, 1, {1, 5}),
        {"kernel 'k(int*)'", "block (0,0,0), thread (0,0,0)", "kernel.cu:5", "address 0x200000000200",
         "that nobody makes", "the grid has 2 blocks, which run one after the other here: --resident-blocks N"});
}

TEST_F(CaptureTest, BlocksThatAreLiveAtOnceSeeOneAnother) {
  options_.resident_blocks = 2;
  Succeeds(kFlag, IntRecipe(2, 1, {1, 5}));
  EXPECT_EQ(reader_->header().provenance().at("resident_blocks"), "2");
  const trace::LaunchView& launch = reader_->launches()[0];
  EXPECT_EQ(launch.launch.resident_blocks(), 2);
  // Block 0 polls twice in vain, after which it is certain that it waits; then block 1 begins.
  ASSERT_EQ(launch.totals.wait_size(), 1);
  const trace::v1::Wait& wait = launch.totals.wait(0);
  EXPECT_EQ(launch.program->instruction(wait.instruction()).op(), trace::v1::OP_LOAD);
  EXPECT_EQ(launch.program->instruction(wait.instruction()).source_line(), 5);
  EXPECT_EQ(wait.address(), 0x200000000200);  // where the first buffer lies
  EXPECT_EQ(wait.block(), 0);
  EXPECT_EQ(wait.thread(), 0);
  EXPECT_EQ(wait.polls(), 2);
  EXPECT_TRUE(wait.writer_known());
  EXPECT_EQ(wait.writer_block(), 1);
  EXPECT_EQ(wait.writer_thread(), 0);
}

TEST_F(CaptureTest, ARecipeMayAskForLiveBlocksItself) {
  Succeeds(kFlag, "resident_blocks: 2\n" + IntRecipe(2, 1, {1, 5}));
  EXPECT_EQ(reader_->header().provenance().at("resident_blocks"), "2");
  EXPECT_EQ(reader_->launches()[0].launch.resident_blocks(), 2);
  // The command line may ask for more.
  options_.resident_blocks = 3;
  Succeeds(kFlag, "resident_blocks: 2\n" + IntRecipe(2, 1, {1, 5}));
  EXPECT_EQ(reader_->header().provenance().at("resident_blocks"), "3");
}

TEST_F(CaptureTest, LiveBlocksThatARecipeCannotHaveAreRefused) {
  Fails(kFlag, "resident_blocks: 1025\n" + IntRecipe(2, 1, {1, 5}), {"1025 resident_blocks: at most 1024"});
  options_.certify = 1;
  Fails(kFlag, "resident_blocks: 2\n" + IntRecipe(2, 1, {1, 5}), {"neither with --certify nor with --lockstep"});
}

TEST_F(CaptureTest, MoreLiveBlocksThanTheGridHasChangeNothing) {
  options_.resident_blocks = 2;
  Succeeds(kFlag, IntRecipe(2, 1, {1, 5}));
  options_.resident_blocks = 7;
  Succeeds(kFlag, IntRecipe(2, 1, {1, 5}));
  EXPECT_EQ(reader_->launches()[0].launch.resident_blocks(), 2);
  EXPECT_EQ(reader_->header().provenance().at("resident_blocks"), "7");
}

TEST_F(CaptureTest, AWaitThatEvenAllBlocksCannotEndIsADeadlock) {
  options_.resident_blocks = 2;
  Fails(R"(
__global__ void k(int* out) {
  volatile int* flag = out;
  while (flag[blockIdx.x] == 0) {
  }
})",
        IntRecipe(2, 3, {0, 0}), {"block (0,0,0)", "kernel.cu:4", "with 2 other threads", "all 2 blocks", "deadlock"});
}

TEST_F(CaptureTest, TooFewLiveBlocksForABarrierOfTheGridAreTold) {
  const char* source = R"(
__global__ void k(int* out) {
  volatile int* count = out;
  atomicAdd(out, 1);
  while (count[0] < (int)gridDim.x) {
  }
})";
  options_.resident_blocks = 3;
  Fails(source, IntRecipe(4, 1, {4}), {"kernel.cu:5", "all live blocks wait, 3 of 4", "--resident-blocks N"});
  options_.resident_blocks = 4;
  Succeeds(source, IntRecipe(4, 1, {4}));
}

TEST_F(CaptureTest, WaitingAtABarrierWithinTheLoopIsNoticed) {
  Fails(R"(
__global__ void k(int* out) {
  __shared__ int seen;
  volatile int* flag = out;
  for (;;) {
    if (threadIdx.x == 0) seen = flag[0];
    __syncthreads();
    int stop = seen;
    __syncthreads();
    if (stop) break;
  }
})",
        IntRecipe(2, 64, {0}), {"kernel.cu:", "that nobody makes", "--resident-blocks"});
}

// Every thread looks at both neighbours of its place, and stays until the larger ones have decided; some of those are
// in the other block. (The maximal independent set of ECL-MIS.)
const char kNeighbours[] = R"(
__global__ void k(int* out) {
  volatile int* state = out;
  const int nodes = gridDim.x * blockDim.x, step = nodes;
  bool missing;
  do {
    missing = false;
    for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < nodes; v += step) {
      const int mine = state[v];
      if (mine < 2) continue;
      int i = 0;
      while (i < 2 && state[(v + (i == 0 ? 1 : nodes - 1)) % nodes] < mine) ++i;
      if (i < 2) {
        missing = true;
      } else {
        state[v] = 1;
        for (i = 0; i < 2; ++i) state[(v + (i == 0 ? 1 : nodes - 1)) % nodes] = 0;
      }
    }
  } while (missing);
})";

// Of 2 blocks of 2 threads; the places begin as 3, 7, 11, 15.
const char kNeighboursRecipe[] = R"(
buffer { name: "out" type: I32 count: 4 fill { iota { start: 3 step: 4 } } }
launch { kernel: "k" grid { x: 2 } block { x: 2 } argument { buffer: "out" } }
check { buffer: "out" expected { values { value: [0, 1, 0, 1] } } }
)";

TEST_F(CaptureTest, AThreadThatPollsSeveralPlacesOfAnotherBlockIsNoticed) {
  // Place 3 has the largest number, next to places 2 and 0: block 0 cannot go on before block 1.
  Fails(kNeighbours, kNeighboursRecipe, {"block (0,0,0)", "that nobody makes", "--resident-blocks N"});
  options_.resident_blocks = 2;
  Succeeds(kNeighbours, kNeighboursRecipe);
  EXPECT_GT(reader_->launches()[0].totals.wait_size(), 0);
}

// A search by all threads of a block, which leave together after the round in which one has found the place.
TEST_F(CaptureTest, RoundsThatABarrierSeparatesAreNoWait) {
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ volatile int found, from;
  if (threadIdx.x == 0) found = from = 0;
  __syncthreads();
  while (!found) {
    const int i = from + threadIdx.x;
    __syncthreads();
    if (i == 200) {
      found = 1;
      *out = i;
    }
    __syncthreads();
    if (threadIdx.x == 0) from = i + blockDim.x;
    __syncthreads();
  }
})",
           IntRecipe(1, 32, {200}));
  EXPECT_EQ(reader_->launches()[0].totals.wait_size(), 0);
}

TEST_F(CaptureTest, SharedMemoryBelongsToTheBlock) {
  // Every block counts in its own shared memory while the blocks take turns.
  std::vector<double> expected(4, 64 * 300);
  options_.resident_blocks = 3;
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int sum;
  __shared__ volatile int zero;
  for (int i = 0; i < 300; ++i) atomicAdd(&sum, 1 + zero);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
})",
           IntRecipe(4, 64, expected));
}

TEST_F(CaptureTest, LocalMemoryBelongsToTheThread) {
  std::vector<double> expected;
  for (int i = 0; i < 6; ++i) expected.push_back(99 * 100 / 2 + 100 * i);
  options_.resident_blocks = 3;
  Succeeds(R"(
__global__ void k(int* out) {
  volatile int mine[100];
  int id = blockIdx.x * 2 + threadIdx.x;
  for (int i = 0; i < 100; ++i) mine[i] = i + id;
  for (int round = 0; round < 40; ++round)
    for (int i = 0; i < 100; ++i) mine[i] = mine[i];
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += mine[i];
  out[id] = sum;
})",
           IntRecipe(3, 2, expected));
}

TEST_F(CaptureTest, ALongBlockIsWrittenInPartsWhileOthersWaitForTheirPlaceInTheFile) {
  // Block 0 ends last; the others have much to record and are cut, too.
  options_.resident_blocks = 4;
  options_.part_instructions = 4096;
  options_.part_accesses = 1024;
  const char* source = R"(
__global__ void k(int* out) {
  volatile int* v = out;
  if (blockIdx.x == 0) {
    while (v[4] < 3) {
    }
  }
  for (int i = 0; i < 3000; ++i) v[blockIdx.x] = i;
  if (blockIdx.x != 0) atomicAdd(out + 4, 1);
})";
  const CaptureSummary summary = Succeeds(source, IntRecipe(4, 1, {2999, 2999, 2999, 2999, 3}));
  EXPECT_EQ(summary.blocks, 4);
  const std::string first = Read(options_.output);
  Succeeds(source, IntRecipe(4, 1, {2999, 2999, 2999, 2999, 3}));
  EXPECT_EQ(Read(options_.output), first);
}

TEST_F(CaptureTest, ALockWithinAWarpIsMarkedWithItsHolder) {
  options_.resident_blocks = 2;  // for its short turns
  Succeeds(R"(
__global__ void k(int* out) {
  while (atomicCAS(out, 0, 1) != 0) {
  }
  volatile int* v = out + 1;
  int sum = *v;
  for (int i = 0; i < 1000; ++i) sum += *v == -1 - i;
  *v = sum + 1;
  __threadfence();
  atomicExch(out, 0);
})",
           IntRecipe(1, 4, {0, 4}));
  const trace::LaunchView& launch = reader_->launches()[0];
  // Threads 1, 2 and 3 find the lock taken; thread 0, which began first, gives it to one after the other.
  ASSERT_EQ(launch.totals.wait_size(), 3);
  std::vector<std::pair<uint32_t, uint32_t>> handed;
  for (const trace::v1::Wait& wait : launch.totals.wait()) {
    EXPECT_TRUE(wait.writer_known());
    EXPECT_THAT(launch.program->instruction(wait.instruction()).mnemonic(), HasSubstr("cas"));
    handed.emplace_back(wait.writer_thread(), wait.thread());
  }
  std::sort(handed.begin(), handed.end());
  EXPECT_EQ(handed.front().first, 0u);
}

// Each thread takes the lock and gives it back in its turn, so that nobody waits.
TEST_F(CaptureTest, ALockThatThreadsOfAWarpTakeTogetherIsMarkedEvenIfNobodyWaited) {
  Succeeds(R"(
__global__ void k(int* out) {
  while (atomicCAS(out, 0, 1) != 0) {
  }
  out[1]++;
  __threadfence();
  atomicExch(out, 0);
})",
           IntRecipe(2, 64, {0, 128}));
  EXPECT_EQ(reader_->launches()[0].totals.wait_size(), 0);
  ASSERT_EQ(reader_->certificates().size(), 1);
  const trace::v1::Certificate& certificate = reader_->certificates()[0];
  ASSERT_EQ(certificate.warp_wait_size(), 1);
  const trace::v1::WarpWait& wait = certificate.warp_wait(0);
  EXPECT_TRUE(wait.lock());
  EXPECT_EQ(reader_->programs()[0].instruction(wait.instruction()).source_line(), 3);
  EXPECT_EQ(wait.count(), 4 * 31) << "of each warp all but one";
  EXPECT_EQ(wait.address(), 0x200000000200);
  EXPECT_EQ(wait.block(), 0);
  EXPECT_EQ(wait.other_thread(), 0);
  EXPECT_EQ(wait.thread(), 1);
}

// One lane at a time comes to the lock; locks of their own; and a compare-and-swap that waits for nobody.
TEST_F(CaptureTest, LocksThatNoTwoThreadsOfAWarpTakeTogetherAreNotMarked) {
  Succeeds(R"(
__global__ void k(int* out) {
  for (int turn = 0; turn < 32; ++turn) {
    if (threadIdx.x == turn) {
      while (atomicCAS(out, 0, 1) != 0) {
      }
      out[1]++;
      __threadfence();
      atomicExch(out, 0);
    }
  }
})",
           IntRecipe(2, 32, {0, 64}));
  EXPECT_EQ(reader_->certificates().size(), 0);
  Succeeds(R"(
__global__ void k(int* out) {
  while (atomicCAS(out + threadIdx.x, 0, 1) != 0) {
  }
  __threadfence();
  atomicExch(out + threadIdx.x, 0);
})",
           IntRecipe(2, 2, {0, 0}));
  EXPECT_EQ(reader_->certificates().size(), 0);
  Succeeds(R"(
__global__ void k(int* out) {
  int old = out[0], assumed;
  do {
    assumed = old;
    old = atomicCAS(out, assumed, assumed + 3);
  } while (old != assumed);
})",
           IntRecipe(2, 32, {192}));
  EXPECT_EQ(reader_->certificates().size(), 0);
}

// A ticket lock: each thread polls until the one in front of it is done.
TEST_F(CaptureTest, APollOfWhatAnotherThreadOfTheWarpChangesLaterIsMarked) {
  Succeeds(R"(
__global__ void k(int* out) {
  volatile int* serving = out + 1;
  const int ticket = atomicAdd(out, 1);
  while (*serving != ticket) {
  }
  __threadfence();
  *serving = ticket + 1;
})",
           IntRecipe(1, 32, {32, 32}));
  ASSERT_EQ(reader_->certificates().size(), 1);
  const trace::v1::Certificate& certificate = reader_->certificates()[0];
  ASSERT_EQ(certificate.warp_wait_size(), 1);
  EXPECT_FALSE(certificate.warp_wait(0).lock());
  EXPECT_EQ(reader_->programs()[0].instruction(certificate.warp_wait(0).instruction()).source_line(), 5);
}

TEST_F(CaptureTest, KernelsWithoutSpinsAreTheSameWithLiveBlocks) {
  const char* source = R"(
__global__ void k(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = blockIdx.x;
  __syncthreads();
  int sum = 0;
  for (int i = 0; i <= (int)threadIdx.x; ++i) sum += s[i];
  out[blockIdx.x * 32 + threadIdx.x] = sum;
})";
  std::vector<double> expected;
  for (int b = 0; b < 5; ++b)
    for (int t = 0; t < 32; ++t) expected.push_back(b * (t + 1));
  const CaptureSummary alone = Succeeds(source, IntRecipe(5, 32, expected));
  options_.resident_blocks = 3;
  const CaptureSummary together = Succeeds(source, IntRecipe(5, 32, expected));
  EXPECT_EQ(alone.thread_instructions, together.thread_instructions);
  EXPECT_EQ(alone.accesses, together.accesses);
}

}  // namespace
}  // namespace heddle::tracegen
