// Asynchronous copies, transaction barriers and barriers by number in CUDA kernels: what the trace has of them, and
// what mistakes of a program look like.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/tracegen/execute/capture_fixture.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kShared = 0x2100'0000'0000;

class AsynchronousTest : public CaptureTest {
 protected:
  static std::string Recipe(uint32_t threads, const std::vector<double>& expected) {
    return absl::StrCat("target: \"sm_90\"\n", IntRecipe(1, threads, expected));
  }
  std::vector<v1::Instruction> All(v1::OpClass op) const {
    std::vector<v1::Instruction> all;
    for (const v1::Instruction& instruction : reader_->programs()[0].proto().instruction()) {
      if (instruction.op() == op) all.push_back(instruction);
    }
    return all;
  }
};

// `word` is the thread's word of shared memory, `own` its element of out.
const char kCopy[] = R"(
#define COPY(...) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(word), "l"(own) : "memory")
__global__ void k(int* out) {
  __shared__ int cells[32];
  const int t = threadIdx.x;
  const int* own = out + t;
  const unsigned word = (unsigned)__cvta_generic_to_shared(&cells[t]);
)";

TEST_F(AsynchronousTest, ACopyHasSourceAndDestination) {
  const CaptureSummary summary = Succeeds(absl::StrCat(kCopy, R"(
  out[t] = t + 5;
  COPY();
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[t] = cells[1 - t];
})"),
                                          Recipe(2, {6, 5}));
  EXPECT_THAT(summary.warnings, IsEmpty());
  const std::vector<v1::Instruction> all = All(v1::OP_ASYNC);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].async().role(), v1::Async::COPY);
  ASSERT_EQ(all[0].operand_size(), 2);
  EXPECT_EQ(all[0].operand(0).space(), v1::SPACE_GLOBAL);
  EXPECT_EQ(all[0].operand(1).space(), v1::SPACE_SHARED);
  EXPECT_EQ(all[1].async().role(), v1::Async::COMMIT);
  EXPECT_EQ(all[2].async().role(), v1::Async::WAIT_GROUP);
  const uint64_t out = 0x2000'0000'0200;
  const std::vector<std::vector<uint64_t>> addresses = Addresses();
  EXPECT_THAT(addresses[0], ElementsAre(out, out, kShared, kShared + 4, out));
  EXPECT_THAT(addresses[1], ElementsAre(out + 4, out + 4, kShared + 4, kShared, out + 4));
}

TEST_F(AsynchronousTest, AMissingWaitShowsAndIsTold) {
  const CaptureSummary summary = Succeeds(absl::StrCat(kCopy, R"(
  out[t] = t + 5;
  COPY();
  asm volatile("cp.async.commit_group;" ::: "memory");
  __syncthreads();
  out[t] = cells[1 - t];
})"),
                                          Recipe(2, {0, 0}));
  EXPECT_THAT(summary.warnings,
              ElementsAre(AllOf(HasSubstr("asynchronous copy at kernel.cu:10"), HasSubstr("without having waited")),
                          AllOf(HasSubstr("shared memory is read at kernel.cu:13"), HasSubstr("no thread"))));
}

TEST_F(AsynchronousTest, AWaitThatComesTooLateIsTold) {
  const CaptureSummary summary = Succeeds(absl::StrCat(kCopy, R"(
  out[t] = t + 5;
  COPY();
  asm volatile("cp.async.commit_group;" ::: "memory");
  __syncthreads();
  out[t] = cells[1 - t];
  __syncthreads();
  asm volatile("cp.async.wait_all;" ::: "memory");
})"),
                                          Recipe(2, {0, 0}));
  EXPECT_THAT(summary.warnings, ElementsAre(HasSubstr("shared memory is read at kernel.cu:13")));
}

TEST_F(AsynchronousTest, ACopyThatNoBarrierShowsToOthersIsAHandOff) {
  const CaptureSummary summary = Succeeds(absl::StrCat(kCopy, R"(
  out[t] = t + 5;
  COPY();
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = cells[t] + cells[0];
})"),
                                          Recipe(2, {10, 11}));
  EXPECT_THAT(summary.warnings, ElementsAre(HasSubstr("share data without synchronization")));
}

TEST_F(AsynchronousTest, CopiesOfLessHaveTheNumberOfBytes) {
  Succeeds(absl::StrCat(kCopy, R"(
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"(word), "l"(own), "r"(t * 4) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  out[t] = 7 + cells[t];
})"),
           Recipe(2, {7, 7}));
  const std::vector<std::vector<uint64_t>> addresses = Addresses();
  ASSERT_EQ(addresses[0].size(), 5u);
  EXPECT_EQ(addresses[0][0], 0u);  // nothing is read
  EXPECT_EQ(addresses[0][2], 0u);
  EXPECT_EQ(addresses[1][0], 0x2000'0000'0204u);
  EXPECT_EQ(addresses[1][2], 4u);
}

TEST_F(AsynchronousTest, MisalignedCopiesAndWrongAddressesEndTheLaunch) {
  Fails(absl::StrCat(kCopy, "  own = (const int*)((const char*)own + 2);\n  COPY();\n}"), Recipe(1, {0}),
        {"kernel.cu:9", "no multiple of 4"});
  options_.compare_with_native = false;  // it knows no lines
  Fails(absl::StrCat(kCopy, "  own = nullptr;\n  COPY();\n  out[0] = cells[0];\n}"), Recipe(1, {0}),
        {"kernel.cu:9", "0x0"});
}

// `barrier` is one in shared memory that thread 0 has made for `expected` arrivals.
std::string WithBarrier(uint32_t expected, const std::string& body) {
  return absl::StrCat(R"(
#define ARRIVE(more) asm volatile("mbarrier.arrive" more ".shared.b64 _, [%0];" :: "r"(barrier) : "memory")
#define WAIT(parity) asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n" \
                                  "@!p bra L; }" :: "r"(barrier), "r"(parity) : "memory")
__global__ void k(int* out) {
  __shared__ unsigned long long object;
  const int t = threadIdx.x;
  const unsigned barrier = (unsigned)__cvta_generic_to_shared(&object);
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], )",
                      expected, ";\" :: \"r\"(barrier) : \"memory\");\n  __syncthreads();\n", body, "\n}\n");
}

TEST_F(AsynchronousTest, AWaitIsRecordedWithOnePoll) {
  Succeeds(WithBarrier(3, R"(
  WAIT(1);
  ARRIVE("");
  WAIT(0);
  ARRIVE("");
  WAIT(1);
  out[t] = t;)"),
           Recipe(3, {0, 1, 2}));
  const std::vector<std::vector<uint64_t>> addresses = Addresses();
  // The barrier is made; then come waits, with the phases that had to be over, and arrivals.
  EXPECT_THAT(addresses[0],
              ElementsAre(kShared, kShared, 0, kShared, kShared, 1, kShared, kShared, 2, 0x2000'0000'0200u));
  for (const v1::Instruction& instruction : All(v1::OP_ASYNC)) {
    EXPECT_EQ(instruction.operand(0).space(), v1::SPACE_SHARED) << instruction.mnemonic();
  }
}

TEST_F(AsynchronousTest, ABarrierThatNeverCompletesIsToldWithItsPlace) {
  Fails(WithBarrier(3, "  ARRIVE(\"\");\n  WAIT(0);"), Recipe(2, {0, 0}),
        {"block (0,0,0)", "thread (0,0,0) and 1 more at transaction barrier 0x210000000000 at kernel.cu:12",
         "1 arrivals are to come"});
  Fails(WithBarrier(1, "  ARRIVE(\".expect_tx\");\n"), Recipe(1, {0}), {"kernel.cu:11", "does not have in this form"});
  Fails(WithBarrier(1, "  ARRIVE(\"\");\n  object = 0;\n  ARRIVE(\"\");"), Recipe(1, {0}),
        {"has not been initialized", "kernel.cu:13"});
}

// What clang has built-in functions of comes as intrinsics of LLVM.
TEST_F(AsynchronousTest, IntrinsicsAreTheSameInstructions) {
  Succeeds(R"(
typedef __attribute__((address_space(3))) void* Shared;
typedef const __attribute__((address_space(1))) void* Global;
__global__ void k(int* out) {
  __shared__ int cells[64];
  __shared__ long object;
  const int t = threadIdx.x;
  const auto barrier = (__attribute__((address_space(3))) long*)&object;
  if (t == 0) __nvvm_mbarrier_init_shared(barrier, 32);
  __nvvm_barrier_sync_cnt(blockIdx.x + 1, blockDim.x);
  out[t] = t;
  __nvvm_cp_async_ca_shared_global_4((Shared)&cells[t], (Global)&out[t]);
  __nvvm_cp_async_ca_shared_global_4((Shared)&cells[32 + t], (Global)&out[t], t % 2 * 4);
  __nvvm_cp_async_commit_group();
  __nvvm_cp_async_wait_group(0);
  const long token = __nvvm_mbarrier_arrive_shared(barrier);
  while (!__nvvm_mbarrier_test_wait_shared(barrier, token)) {
  }
  out[t] = cells[31 - t] + 100 * cells[63 - t] + __nvvm_mbarrier_pending_count(token) / 33;
})",
           Recipe(32, [] {
             std::vector<double> expected(32);
             for (int t = 0; t < 32; ++t) expected[t] = 31 - t + ((31 - t) % 2 == 1 ? 100 * (31 - t) : 0);
             return expected;
           }()));
  std::vector<std::string> mnemonics;
  for (const v1::Instruction& instruction : All(v1::OP_ASYNC)) mnemonics.push_back(instruction.mnemonic());
  EXPECT_THAT(mnemonics, ElementsAre("mbarrier.init.shared.b64", "cp.async.ca.shared.global",
                                     "cp.async.ca.shared.global", "cp.async.commit_group", "cp.async.wait_group",
                                     "mbarrier.arrive.shared.b64", "mbarrier.test_wait.shared.b64"));
  ASSERT_EQ(All(v1::OP_BARRIER).size(), 1u);
  EXPECT_EQ(All(v1::OP_BARRIER)[0].operand_size(), 2);
}

TEST_F(AsynchronousTest, BarriersByNumberHaveTheirRolesAndNumbers) {
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int cells[64];
  const int t = threadIdx.x, number = 1 + blockIdx.x, count = blockDim.x;
  if (t < 32) {
    cells[t] = t;
    asm volatile("bar.arrive %0, %1;" :: "r"(number), "r"(count) : "memory");
  } else {
    asm volatile("bar.sync %0, 64;" :: "r"(number) : "memory");
    out[t - 32] = cells[63 - t];
  }
  asm volatile("barrier.sync %0;" :: "r"(2) : "memory");
})",
           Recipe(64, [] {
             std::vector<double> expected(32);
             for (int i = 0; i < 32; ++i) expected[i] = 31 - i;
             return expected;
           }()));
  const std::vector<v1::Instruction> all = All(v1::OP_BARRIER);
  ASSERT_EQ(all.size(), 3u);
  int arrivals = 0;
  for (const v1::Instruction& barrier : all) {
    if (barrier.barrier_role() == v1::BARRIER_ARRIVE) {
      ++arrivals;
      ASSERT_EQ(barrier.operand_size(), 2);
      EXPECT_EQ(barrier.operand(0).kind(), v1::Operand::BARRIER);
      EXPECT_EQ(barrier.operand(1).kind(), v1::Operand::COUNT);
    } else if (barrier.operand_size() == 1) {
      EXPECT_EQ(barrier.operand(0).kind(), v1::Operand::BARRIER);
      EXPECT_EQ(barrier.barrier_threads(), 64u);
    } else {
      EXPECT_EQ(barrier.operand_size(), 0);
      EXPECT_EQ(barrier.barrier_id(), 2u);
    }
  }
  EXPECT_EQ(arrivals, 1);
}

TEST_F(AsynchronousTest, BarriersThatNeverOpenAreTold) {
  Fails(R"(
__global__ void k(int* out) {
  if (threadIdx.x < 32)
    asm volatile("bar.arrive 1, 96;" ::: "memory");
  else if (threadIdx.x < 64)
    asm volatile("bar.sync 1, 96;" ::: "memory");
})",
        Recipe(96, {0}), {"block (0,0,0)", "thread (32,0,0) and 31 more at barrier 1 at kernel.cu:6"});
  Fails(R"(
__global__ void k(int* out) {
  if (threadIdx.x < 32)
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 1, 32;" ::: "memory");
})",
        Recipe(64, {0}), {"kernel.cu:6", "waits for another number of threads"});
}

TEST_F(AsynchronousTest, ClustersOfOneBlock) {
  Succeeds(R"(
__global__ void k(int* out) {
  __shared__ int cells[64];
  const int t = threadIdx.x;
  cells[t] = t;
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  out[t] = cells[63 - t];
})",
           Recipe(64, [] {
             std::vector<double> expected(64);
             for (int i = 0; i < 64; ++i) expected[i] = 63 - i;
             return expected;
           }()));
  const std::vector<v1::Instruction> all = All(v1::OP_BARRIER);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].barrier_role(), v1::BARRIER_ARRIVE);
  EXPECT_EQ(all[1].barrier_role(), v1::BARRIER_WAIT);
  EXPECT_EQ(all[1].barrier_scope(), v1::SCOPE_CLUSTER);
}

TEST_F(AsynchronousTest, AWaitForTheClusterNeedsAnArrival) {
  Fails("__global__ void k(int* out) {\n  asm volatile(\"barrier.cluster.wait;\" ::: \"memory\");\n}", Recipe(1, {0}),
        {"without having arrived", "kernel.cu:2"});
}

}  // namespace
}  // namespace heddle::tracegen
