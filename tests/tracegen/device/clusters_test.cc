// Clusters of several blocks: what is recorded of them, and what programs do wrong.
#include "traces/format/program/clusters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/tracegen/execute/capture_fixture.h"
#include "traces/format/read/recorded_clusters.h"

namespace heddle::tracegen {
namespace {

namespace v1 = ::heddle::trace::v1;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ClustersTest : public CaptureTest {
 protected:
  static std::string Recipe(uint32_t blocks, uint32_t threads, const std::vector<double>& expected) {
    return absl::StrCat("target: \"sm_90\"\n", IntRecipe(blocks, threads, expected));
  }
  const v1::Instruction& Find(v1::OpClass op, v1::MemorySpace space) const {
    for (const v1::Instruction& instruction : reader_->programs()[0].proto().instruction()) {
      if (instruction.op() == op && instruction.space() == space) return instruction;
    }
    ADD_FAILURE() << "no such instruction";
    return reader_->programs()[0].proto().instruction(0);
  }
};

// `cell`: the thread's cell of shared memory; `there`: that of the same thread of another block.
const char kExchange[] = R"(
#define ARRIVE asm volatile("barrier.cluster.arrive.aligned;" ::: "memory")
#define WAIT asm volatile("barrier.cluster.wait.aligned;" ::: "memory")
__global__ void __cluster_dims__(2) k(int* out) {
  __shared__ int cells[4];
  unsigned rank, cell = (unsigned)__cvta_generic_to_shared(&cells[threadIdx.x]), there;
  int value;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(cell), "r"(rank ^ 1));
)";

TEST_F(ClustersTest, ExchangeValuesThroughSharedMemory) {
  const CaptureSummary summary = Succeeds(absl::StrCat(kExchange, R"(
  cells[threadIdx.x] = 10 * blockIdx.x + threadIdx.x;
  ARRIVE;
  WAIT;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
  out[blockIdx.x * 2 + threadIdx.x] = value;
  ARRIVE;
  WAIT;
})"),
                                          Recipe(4, 2, {10, 11, 0, 1, 30, 31, 20, 21}));
  EXPECT_THAT(summary.warnings, IsEmpty());
  const v1::Launch& launch = reader_->launches()[0].launch;
  EXPECT_EQ(launch.cluster().x(), 2u);
  EXPECT_EQ(launch.cluster().y(), 1u);
  EXPECT_EQ(launch.resident_blocks(), 2u);
  EXPECT_EQ(Find(v1::OP_LOAD, v1::SPACE_CLUSTER_SHARED).access_bytes(), 4u);
  // The load's address lies in the share of the block with the other rank.
  const trace::SharedWindows windows(reader_->header());
  const std::vector<std::vector<uint64_t>> addresses = Addresses();
  ASSERT_EQ(addresses.size(), 8u);
  for (uint32_t thread = 0; thread < 8; ++thread) {
    const uint32_t rank = thread / 2 % 2;
    std::vector<uint32_t> ranks;
    for (const uint64_t address : addresses[thread]) {
      if (const auto place = windows.Find(address, rank); place.has_value()) {
        ranks.push_back(place->rank);
        EXPECT_EQ(place->offset, 4u * (thread % 2));
      }
    }
    EXPECT_THAT(ranks, ElementsAre(rank, rank ^ 1));
  }
  const auto recorded = trace::RecordedClusters::Of(*reader_, reader_->launches()[0]);
  ASSERT_TRUE(recorded.ok());
  EXPECT_EQ(recorded->count(), 2u);
}

TEST_F(ClustersTest, OwnShareInTheWindowOfTheClusterIsTheOwnMemory) {
  Succeeds(R"(
__global__ void __cluster_dims__(1, 2) k(int* out) {
  __shared__ int cell;
  unsigned rank, cells = (unsigned)__cvta_generic_to_shared(&cell), here;
  int value;
  asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(here) : "r"(cells), "r"(rank));
  asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(here), "r"(5 + rank) : "memory");
  out[blockIdx.x + 2 * blockIdx.y] = cell;
  // A block's own address is one of its cluster, too.
  asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(cells), "r"(50 + rank) : "memory");
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(here) : "memory");
  out[blockIdx.x + 2 * blockIdx.y] += value;
})",
           absl::StrCat("target: \"sm_90\"\n", "buffer { name: \"out\" type: I32 count: 4 fill { zeros {} } }\n",
                        "launch { kernel: \"k\" grid { x: 2 y: 2 } block { x: 1 } argument { buffer: \"out\" } }\n",
                        "check { buffer: \"out\" expected { ", Values({55, 55, 57, 57}), " } }\n"));
}

TEST_F(ClustersTest, SharedMemoryThatOthersHaveWrittenIsInitialized) {
  const CaptureSummary summary = Succeeds(absl::StrCat(kExchange, R"(
  asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(there), "r"(7 + rank) : "memory");
  ARRIVE;
  WAIT;
  out[blockIdx.x] = cells[threadIdx.x];
})"),
                                          Recipe(2, 1, {8, 7}));
  EXPECT_THAT(summary.warnings, IsEmpty());
}

TEST_F(ClustersTest, RemoteLoadsOfWhatNobodyHasWrittenAreTold) {
  const CaptureSummary summary = Succeeds(absl::StrCat(kExchange, R"(
  cells[0] = 1;
  ARRIVE;
  WAIT;
  asm volatile("ld.shared::cluster.u32 %0, [%1+4];" : "=r"(value) : "r"(there) : "memory");
  out[blockIdx.x] = value;
  ARRIVE;
  WAIT;
})"),
                                          Recipe(2, 1, {0, 0}));
  EXPECT_THAT(summary.warnings, ElementsAre(HasSubstr("that no thread of the cluster has written")));
}

TEST_F(ClustersTest, HandOffsThroughOtherBlocksAreFound) {
  // Two threads of a warp exchange a value in the other block's memory without synchronization.
  const CaptureSummary summary = Succeeds(absl::StrCat(kExchange, R"(
  asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(there), "r"(1) : "memory");
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there ^ 4) : "memory");
  out[2 * blockIdx.x + threadIdx.x] = value;
  ARRIVE;
  WAIT;
})"),
                                          Recipe(2, 2, {0, 1, 0, 1}));
  EXPECT_THAT(summary.warnings, ElementsAre(HasSubstr("share data without synchronization")));
}

TEST_F(ClustersTest, ABlockMayNotLeaveBeforeOthersHaveReadItsMemory) {
  options_.compare_with_native = false;  // the recorded run tells the line
  Fails(absl::StrCat(kExchange, R"(
  ARRIVE;
  WAIT;
  if (rank == 0) return;
  ARRIVE;
  WAIT;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
  out[blockIdx.x] = value;
})"),
        Recipe(2, 1, {0, 0}),
        {"block (1,0,0)", "shared memory of block 0 of the cluster, which has ended", "kernel.cu:16"});
}

TEST_F(ClustersTest, RanksBeyondTheClusterAreTold) {
  options_.compare_with_native = false;
  Fails(absl::StrCat(kExchange, R"(
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(cell), "r"(rank + 4000000000u));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
  out[0] = value;
})"),
        Recipe(2, 1, {0, 0}), {"shared memory of block 16 of a cluster, which has 2 blocks", "kernel.cu:12"});
}

TEST_F(ClustersTest, FailuresAreToldWithTheHandOffsInFrontOfThem) {
  options_.compare_with_native = false;  // which would fail first
  const std::string hand_off = absl::StrCat(kExchange, R"(
  if (rank == 0) {
    *(volatile int*)&cells[threadIdx.x] = 1;
    value = *(volatile int*)&cells[threadIdx.x ^ 1];
    if (value > 1000) cells[3] = 1;
  }
)");
  const std::vector<std::string> told = {
      "threads of a warp share data without synchronization: what is stored at "
      "kernel.cu:12 is loaded by other threads at kernel.cu:13",
      "capture it with --lockstep"};
  // A fault, in the block that has handed over and in the other one; threads that wait for ever.
  const auto fails = [&](const std::string& failure, const std::string& name) {
    std::vector<std::string> parts = told;
    parts.push_back(name);
    Fails(absl::StrCat(hand_off, "  ARRIVE;\n  WAIT;\n", failure, "}"), Recipe(2, 2, {0, 0}), parts);
  };
  fails("if (rank == 0) out[1ll << 34] = value;", "where nothing is allocated");
  fails("if (rank == 1) out[1ll << 34] = 1;", "where nothing is allocated");
  fails("if (rank == 1) { ARRIVE; WAIT; }\nwhile (rank == 0 && *(volatile int*)out == 0) {}", "wait");
  // Where nothing is handed over.
  const absl::StatusOr<CaptureSummary> summary =
      Capture(absl::StrCat(kExchange, "  if (rank == 1) out[1ll << 34] = 1;}"), Recipe(2, 2, {0, 0}), "cu");
  ASSERT_FALSE(summary.ok());
  EXPECT_THAT(summary.status().message(), Not(HasSubstr("lockstep")));
}

TEST_F(ClustersTest, BlocksThatWaitForEverAreTold) {
  Fails(absl::StrCat(kExchange, R"(
  if (rank == 0) {
    ARRIVE;
    WAIT;
  }
  while (rank == 1 && *(volatile int*)out == 0) {}
})"),
        Recipe(2, 1, {0, 0}), {"wait"});
  Fails(absl::StrCat(kExchange, R"(
  if (threadIdx.x == 0) __syncthreads();
  ARRIVE;
  asm volatile("barrier.cluster.wait;");
})"),
        Recipe(2, 2, {0, 0}), {"threads wait for others that never come"});
}

TEST_F(ClustersTest, GridsThatClustersDoNotDivideAreRefused) {
  Fails("__global__ void __cluster_dims__(2) k(int* out) { out[blockIdx.x] = 1; }", Recipe(3, 1, {1, 1, 1}),
        {"clusters of (2,1,1) blocks", "do not divide its grid of (3,1,1) blocks"});
  Fails("__global__ void __cluster_dims__(32) k(int* out) { out[blockIdx.x] = 1; }", Recipe(32, 1, {1}),
        {"at most 16 are possible"});
}

TEST_F(ClustersTest, WithoutASizeABlockIsACluster) {
  Succeeds(R"(
__global__ void k(int* out) {
  unsigned n, id, is;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(n));
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(id));
  asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(is));
  // Its own memory is all that it can map.
  __shared__ int cell;
  unsigned here = (unsigned)__cvta_generic_to_shared(&cell), rank;
  asm volatile("mapa.shared::cluster.u32 %0, %0, 0;" : "+r"(here));
  asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(here), "r"(1000) : "memory");
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(here));
  out[blockIdx.x] = cell + 100 * is + 10 * n + id + rank;
})",
           Recipe(3, 1, {1010, 1011, 1012}));
  EXPECT_FALSE(reader_->launches()[0].launch.has_cluster());
  EXPECT_EQ(reader_->header().window_size(), 4);
}

TEST_F(ClustersTest, TransactionBarriersOfOtherBlocksCountArrivals) {
  Succeeds(absl::StrCat(kExchange, R"(
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned own = (unsigned)__cvta_generic_to_shared(&barrier);
  unsigned remote;
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" :: "r"(own) : "memory");
  ARRIVE;
  WAIT;
  asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(there), "r"(20 + rank) : "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(own), "r"(rank ^ 1));
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(remote) : "memory");
  asm volatile("{ .reg .pred p; WAITS: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra WAITS; }"
               :: "r"(own) : "memory");
  out[2 * blockIdx.x + threadIdx.x] = cells[threadIdx.x];
  ARRIVE;
  WAIT;
})"),
           Recipe(2, 2, {21, 21, 20, 20}));
  bool found = false;
  for (const v1::Instruction& instruction : reader_->programs()[0].proto().instruction()) {
    if (instruction.async().role() != v1::Async::BARRIER_ARRIVE) continue;
    found = true;
    EXPECT_EQ(instruction.operand(0).space(), v1::SPACE_CLUSTER_SHARED);
  }
  EXPECT_TRUE(found);
}

TEST_F(ClustersTest, WhatIsToComeAtABarrierIsToldOfTheBlockThatWaits) {
  for (const uint32_t rank : {0, 1}) {
    // The other block waits for something else.
    Fails(absl::StrCat(kExchange, R"(
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned own = (unsigned)__cvta_generic_to_shared(&barrier);
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(own), "r"(3 + 2 * rank) : "memory");
  if (rank == )",
                       rank, R"() asm volatile(
      "{ .reg .pred p; WAITS: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra WAITS; }"
      :: "r"(own) : "memory");
  ARRIVE;
  WAIT;
})"),
          Recipe(2, 1, {0, 0}), {rank == 0 ? "(3 arrivals are to come)" : "barrier of the cluster"});
  }
}

TEST_F(ClustersTest, ArrivalsAtBarriersOfBlocksThatHaveEndedAreTold) {
  options_.compare_with_native = false;
  Fails(absl::StrCat(kExchange, R"(
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned own = (unsigned)__cvta_generic_to_shared(&barrier);
  unsigned remote;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(own) : "memory");
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(own), "r"(rank ^ 1));
  if (rank == 0) return;
  ARRIVE;
  WAIT;
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(remote) : "memory");
})"),
        Recipe(2, 1, {0, 0}), {"block (1,0,0)", "shared memory of block 0 of the cluster, which has ended"});
}

TEST_F(ClustersTest, ArrivalsWhereNoBarrierIsAreTold) {
  Fails(absl::StrCat(kExchange, R"(
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(there) : "memory");
})"),
        Recipe(2, 1, {0, 0}), {"has not been initialized"});
}

TEST_F(ClustersTest, WaitsForBarriersOfOtherBlocksAreTold) {
  Fails(absl::StrCat(kExchange, R"(
  __shared__ alignas(8) unsigned long long barrier;
  const unsigned own = (unsigned)__cvta_generic_to_shared(&barrier);
  unsigned remote;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(own) : "memory");
  ARRIVE;
  WAIT;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(own), "r"(rank ^ 1));
  asm volatile("{ .reg .pred p; WAITS: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 1; @!p bra WAITS; }"
               :: "r"(remote) : "memory");
  ARRIVE;
  WAIT;
})"),
        Recipe(2, 1, {0, 0}), {"lies in another block of the cluster, where a thread can only arrive"});
}

TEST_F(ClustersTest, SeveralClustersMayBeLiveAtOnce) {
  options_.resident_blocks = 4;
  Succeeds(absl::StrCat(kExchange, R"(
  cells[0] = blockIdx.x;
  ARRIVE;
  WAIT;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
  // The last cluster waits for the first.
  if (blockIdx.x < 2) out[blockIdx.x] = value + 1;
  while (blockIdx.x >= 2 && ((volatile int*)out)[blockIdx.x - 2] == 0) {}
  out[blockIdx.x] = value + 1;
  ARRIVE;
  WAIT;
})"),
           Recipe(4, 1, {2, 1, 4, 3}));
  EXPECT_EQ(reader_->launches()[0].launch.resident_blocks(), 4u);
}

TEST_F(ClustersTest, AreNotCertified) {
  options_.certify = 1;
  const CaptureSummary summary =
      Succeeds("__global__ void __cluster_dims__(2) k(int* out) { out[blockIdx.x] = 1; }", Recipe(2, 1, {1, 1}));
  EXPECT_THAT(summary.warnings, ElementsAre(HasSubstr("clusters of several blocks are not run in other orders")));
}

}  // namespace
}  // namespace heddle::tracegen
