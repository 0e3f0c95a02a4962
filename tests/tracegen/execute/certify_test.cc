// --certify: launches run again with threads and blocks in other orders, and the trace says what changed.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/tracegen/execute/capture_fixture.h"
#include "tracegen/execute/order/block_order.h"
#include "traces/format/edit/compare.h"
#include "traces/format/limits.h"

namespace heddle::tracegen {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CertifyTest : public CaptureTest {
 protected:
  CertifyTest() { options_.certify = 3; }

  trace::v1::Certificate Certificate(uint32_t launch = 0) const {
    trace::v1::Certificate found;
    size_t count = 0;
    for (const trace::v1::Certificate& certificate : reader_->certificates()) {
      if (certificate.launch() != launch) continue;
      found = certificate;
      ++count;
    }
    EXPECT_EQ(count, 1) << "launch " << launch;
    return found;
  }
  uint32_t LineOf(uint32_t instruction) const { return reader_->programs()[0].instruction(instruction).source_line(); }
};

TEST_F(CertifyTest, AKernelWhoseThreadsAreIndependentIsUnchanged) {
  Succeeds(R"(
__global__ void k(int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i % 3 == 0) out[i] = i;
})",
           IntRecipe(4, 32, [] {
             std::vector<double> expected(128, 0);
             for (int i = 0; i < 128; i += 3) expected[static_cast<size_t>(i)] = i;
             return expected;
           }()));
  const trace::v1::Certificate certificate = Certificate();
  EXPECT_EQ(certificate.runs(), 3);
  EXPECT_EQ(certificate.seed(), 1);
  EXPECT_THAT(certificate.failure(), IsEmpty());
  EXPECT_THAT(certificate.instruction(), SizeIs(0));
  EXPECT_EQ(reader_->header().minor(), trace::kCertificateMinorVersion);
}

// Slot numbers come from an atomic, so the order of threads decides where each one stores; the program's result does
// not depend on it.
TEST_F(CertifyTest, AddressesThatComeFromAnAtomicChange) {
  std::vector<double> expected(65, 1);
  expected[0] = 64;
  Succeeds(R"(
__global__ void k(int* out) {
  int slot = atomicAdd(out, 1);
  out[1 + slot] = 1;
})",
           IntRecipe(2, 32, expected));
  const trace::v1::Certificate certificate = Certificate();
  ASSERT_THAT(certificate.instruction(), SizeIs(1));
  const trace::v1::InstructionVariance& store = certificate.instruction(0);
  EXPECT_EQ(reader_->programs()[0].instruction(store.instruction()).op(), trace::v1::OP_STORE);
  EXPECT_EQ(LineOf(store.instruction()), 4);
  EXPECT_EQ(store.decisions_changed(), 0);
  EXPECT_EQ(store.executions(), 64);
  EXPECT_GT(store.addresses_changed(), 32);
  EXPECT_LE(store.addresses_changed(), 64);
  EXPECT_EQ(store.threads(), store.addresses_changed()) << "each thread stores once";
}

// The first eight to arrive take the branch.
TEST_F(CertifyTest, BranchesOnTheResultOfAnAtomicChange) {
  Succeeds(R"(
__global__ void k(int* out) {
  int order = atomicAdd(out, 1);
  if (order < 8) {
    atomicAdd(out + 1, order);
  }
})",
           IntRecipe(4, 16, {64, 28}));
  const trace::v1::Certificate certificate = Certificate();
  std::vector<uint32_t> branches;
  for (const trace::v1::InstructionVariance& variance : certificate.instruction()) {
    if (variance.decisions_changed() == 0) continue;
    branches.push_back(LineOf(variance.instruction()));
    EXPECT_EQ(variance.executions(), 64);
    EXPECT_LE(variance.decisions_changed(), 16) << "at most eight threads leave the first eight, and eight come";
  }
  EXPECT_THAT(branches, ::testing::ElementsAre(4));
}

TEST_F(CertifyTest, TheRecordedPathsAreThoseOfACaptureWithoutCertificate) {
  const std::string source = R"(
__global__ void k(int* out) {
  __shared__ int turn;
  if (threadIdx.x == 0) turn = 0;
  __syncthreads();
  int mine = atomicAdd(&turn, 1);
  for (int i = 0; i < mine; ++i) atomicAdd(out + 1 + (mine + i) % 4, 1);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, turn);
})";
  options_.check = false;
  const std::string recipe = IntRecipe(3, 64, {0, 0, 0, 0, 0});
  Succeeds(source, recipe);
  EXPECT_GT(Certificate().instruction_size(), 0);
  auto certified = std::move(reader_);
  const std::string first = Read(options_.output);
  Succeeds(source, recipe);
  EXPECT_EQ(Read(options_.output), first) << "two captures are the same bytes";
  options_.certify = 0;
  options_.output = Path("plain.htrace");
  Succeeds(source, recipe);
  EXPECT_THAT(reader_->certificates(), IsEmpty());
  auto difference = trace::CompareTraces(*certified, *reader_);
  ASSERT_TRUE(difference.ok()) << difference.status();
  EXPECT_FALSE(difference->has_value());
}

// Each launch starts from what the recorded run of the one before it has left.
TEST_F(CertifyTest, MemoryIsPutBackAfterEveryOrder) {
  Succeeds(R"(
__global__ void k(int* out) { out[threadIdx.x] += 1 + threadIdx.x; })",
           IntRecipe(1, 4, {3, 6, 9, 12}, "repeat: 3"));
  for (uint32_t launch = 0; launch < 3; ++launch) {
    EXPECT_EQ(Certificate(launch).runs(), 3);
    EXPECT_THAT(Certificate(launch).instruction(), SizeIs(0));
  }
}

TEST_F(CertifyTest, AnOrderThatFailsIsPartOfTheCertificate) {
  const CaptureSummary summary = Succeeds(R"(
__global__ void k(int* out) {
  if (atomicAdd(out, 1) == 0 && threadIdx.x != 0) __trap();
})",
                                          IntRecipe(1, 64, {64}));
  EXPECT_THAT(Certificate().failure(), HasSubstr("trap"));
  EXPECT_THAT(Certificate().failure(), HasSubstr("seed"));
  EXPECT_THAT(summary.warnings, ::testing::Contains(HasSubstr("trap")));
}

// Threads wait at barriers, so the orders within them do not show in what a thread reads.
TEST_F(CertifyTest, BarriersHoldInEveryOrder) {
  std::vector<double> expected;
  for (int i = 0; i < 128; ++i) expected.push_back(127 - i);
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int next[128];
  __shared__ int data[128];
  next[threadIdx.x] = 127 - threadIdx.x;
  data[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = data[next[threadIdx.x]];
  __syncwarp();
})",
           IntRecipe(1, 128, expected));
  EXPECT_THAT(Certificate().instruction(), SizeIs(0));
}

// What a thread waits for comes in any order.
TEST_F(CertifyTest, ManyPartsOfABlockAreComparedAsAWhole) {
  options_.part_instructions = 2000;
  options_.part_accesses = 1000;
  options_.check = false;
  Succeeds(R"(
__global__ void k(int* out) {
  for (int i = 0; i < 100; ++i) out[threadIdx.x] += i;
})",
           IntRecipe(1, 64, std::vector<double>(64, 0)));
  EXPECT_EQ(Certificate().runs(), 3);
  EXPECT_THAT(Certificate().instruction(), SizeIs(0));
}

// Threads of several warps add to one word, one whole loop iteration after the other, so that no order shows it.
TEST_F(CertifyTest, ThreadsThatAddToOnePlaceWithoutAtomicsRace) {
  const CaptureSummary summary = Succeeds(R"(
__global__ void k(int* out) {
  for (int j = 0; j < 3; ++j)
    out[threadIdx.x % 32] += j;
})",
                                          IntRecipe(1, 128, std::vector<double>(32, 12)));
  const trace::v1::Certificate certificate = Certificate();
  EXPECT_THAT(certificate.instruction(), SizeIs(0)) << "paths and addresses are the same";
  EXPECT_THAT(certificate.memory(), SizeIs(0));
  ASSERT_THAT(certificate.race(), SizeIs(1));
  const trace::v1::Race& race = certificate.race(0);
  EXPECT_EQ(reader_->programs()[0].instruction(race.writer()).op(), trace::v1::OP_STORE);
  EXPECT_EQ(reader_->programs()[0].instruction(race.other()).op(), trace::v1::OP_LOAD);
  EXPECT_EQ(LineOf(race.writer()), 4);
  EXPECT_EQ(race.places(), 32);
  EXPECT_EQ(race.address(), 0x200000000200);
  EXPECT_NE(race.writer_thread() / 32, race.other_thread() / 32);
  EXPECT_THAT(summary.warnings, ::testing::Contains(::testing::AllOf(HasSubstr("kernel.cu:4"), HasSubstr("race"))));
}

TEST_F(CertifyTest, BlocksThatReadWhatOthersWriteRace) {
  options_.check = false;
  Succeeds(R"(
__global__ void k(int* out) {
  out[blockIdx.x] = 1 + out[(blockIdx.x + 1) % gridDim.x];
})",
           IntRecipe(4, 1, {0, 0, 0, 0}));
  const trace::v1::Certificate certificate = Certificate();
  ASSERT_THAT(certificate.race(), SizeIs(1));
  EXPECT_EQ(certificate.race(0).places(), 4);
  ASSERT_THAT(certificate.memory(), SizeIs(1)) << "another order of blocks gives other values";
  EXPECT_EQ(certificate.memory(0).base(), 0x200000000200);
  EXPECT_EQ(LineOf(certificate.memory(0).writer()), 3);
}

// Whose store comes last shows in memory if the values differ.
TEST_F(CertifyTest, StoresOverOneAnotherRaceIfTheirValuesDiffer) {
  options_.check = false;
  Succeeds(R"(
__global__ void k(int* out) {
  out[0] = threadIdx.x;
  out[1] = threadIdx.x < 1000 ? 7 : 8;
  if (threadIdx.x % 2 == 0) out[2] = 1;
  else
    out[2] = 1;
})",
           IntRecipe(1, 64, {0, 0, 0}));
  const trace::v1::Certificate certificate = Certificate();
  ASSERT_THAT(certificate.race(), SizeIs(1));
  EXPECT_EQ(LineOf(certificate.race(0).writer()), 3);
  EXPECT_EQ(LineOf(certificate.race(0).other()), 3);
  EXPECT_EQ(certificate.race(0).places(), 1);
  ASSERT_THAT(certificate.memory(), SizeIs(1));
  EXPECT_EQ(certificate.memory(0).address(), 0x200000000200);
}

// Locks, the last block that adds up what the others have left, barriers, and atomics alone.
TEST_F(CertifyTest, OrderedAccessesDoNotRace) {
  options_.check = false;
  const CaptureSummary summary = Succeeds(R"(
__global__ void k(int* out) {
  __shared__ bool last;
  const int t = threadIdx.x;
  bool done = false;
  while (!done) {
    if (atomicCAS(out, 0, 1) == 0) {
      out[1]++;
      __threadfence();
      atomicExch(out, 0);
      done = true;
    }
  }
  atomicAdd(out + 2, 1);
  out[16 + blockIdx.x * 64 + t] = t;
  __syncthreads();
  out[16 + blockIdx.x * 64 + t] += t;
  __threadfence();
  __syncthreads();
  if (t == 0) last = atomicAdd(out + 3, 1) == gridDim.x - 1;
  __syncthreads();
  if (last && t == 0) {
    int sum = 0;
    for (int i = 0; i < 128; ++i) sum += out[16 + i];
    out[4] = sum;
  }
})",
                                          IntRecipe(2, 64, std::vector<double>(16 + 128, 0)));
  EXPECT_THAT(Certificate().race(), SizeIs(0));
  EXPECT_THAT(summary.warnings, IsEmpty());
}

TEST(BlockOrder, VisitsEveryBlockOnce) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    for (uint64_t first : {0, 7}) {
      for (uint64_t count = 0; count < 70; ++count) {
        const BlockOrder order(first, first + count, seed);
        std::set<uint64_t> visited;
        for (uint64_t at = first; at < first + count; ++at) visited.insert(order.At(at));
        ASSERT_EQ(visited.size(), count);
        if (count == 0) continue;
        EXPECT_EQ(*visited.begin(), first);
        EXPECT_EQ(*visited.rbegin(), first + count - 1);
      }
    }
  }
}

TEST(BlockOrder, DiffersBetweenSeedsAndIsAscendingWithoutOne) {
  const auto list = [](std::optional<uint64_t> seed) {
    const BlockOrder order(0, 97, seed);
    std::vector<uint64_t> blocks;
    for (uint64_t at = 0; at < 97; ++at) blocks.push_back(order.At(at));
    return blocks;
  };
  const std::vector<uint64_t> usual = list(std::nullopt);
  EXPECT_TRUE(std::is_sorted(usual.begin(), usual.end()));
  EXPECT_NE(list(1), usual);
  EXPECT_NE(list(1), list(2));
  EXPECT_EQ(list(2), list(2));
}

}  // namespace
}  // namespace heddle::tracegen
