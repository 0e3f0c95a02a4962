// What a launch leaves of the storage that L1 and shared memory share, and what the system takes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "replay/machine/machine.h"
#include "tests/traces/program_builder.h"

namespace heddle::replay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr uint32_t kKilobyte = 1024;

// 64 KB, ways of 1 KB.
machine::v1::Machine Splitting() {
  machine::v1::Machine machine = LoadMachine("baws_gtx480").value();
  machine.mutable_core()->set_shared_memory_bytes(48 * kKilobyte);
  machine::v1::Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  memory.mutable_l1_data()->set_sets(8);
  memory.mutable_l1_data()->set_line_bytes(128);
  memory.mutable_l1_data()->set_ways(64);
  memory.mutable_l1_split()->set_bytes(64 * kKilobyte);
  for (const uint32_t bytes : {0u, 8u, 16u, 48u}) memory.mutable_l1_split()->add_shared_bytes(bytes * kKilobyte);
  EXPECT_TRUE(CheckMachine(machine).ok()) << CheckMachine(machine);
  return machine;
}

trace::Program KernelWith(uint32_t static_shared) {
  trace::v1::KernelProgram proto = trace::testing::ProgramBuilder("kernel").Exit().Build();
  proto.set_static_shared_bytes(static_shared);
  return trace::Program::Create(proto).value();
}

// The ways that `blocks` blocks leave, which take so many bytes of shared memory each.
uint32_t Ways(const machine::v1::Machine& machine, int blocks, uint32_t static_shared, uint32_t dynamic_shared = 0) {
  trace::v1::Launch launch = trace::testing::MakeLaunch(0, 1000, 64);
  launch.set_dynamic_shared_bytes(dynamic_shared);
  return L1Ways(machine, KernelWith(static_shared), launch, blocks);
}

TEST(L1Ways, TheSmallestSharedMemoryThatHoldsTheBlocksLeavesTheRest) {
  const machine::v1::Machine machine = Splitting();
  EXPECT_EQ(Ways(machine, 8, 0), 64) << "no shared memory: all of it";
  EXPECT_EQ(Ways(machine, 1, 1), 56);
  EXPECT_EQ(Ways(machine, 1, 8 * kKilobyte), 56) << "an exact fit";
  EXPECT_EQ(Ways(machine, 1, 8 * kKilobyte + 1), 48);
  EXPECT_EQ(Ways(machine, 2, 8 * kKilobyte), 48) << "two blocks, exactly";
  EXPECT_EQ(Ways(machine, 2, 8 * kKilobyte + 1), 16);
  EXPECT_EQ(Ways(machine, 1, 48 * kKilobyte), 16) << "the largest";
  EXPECT_EQ(Ways(machine, 2, 3 * kKilobyte, 5 * kKilobyte), 48) << "of the kernel's own and of the launch's";
  EXPECT_EQ(Ways(machine, 2, 3 * kKilobyte, 5 * kKilobyte + 1), 16);
}

TEST(L1Ways, WhatTheSystemTakesOfEveryBlockCounts) {
  machine::v1::Machine machine = Splitting();
  machine.mutable_core()->set_shared_bytes_per_block(kKilobyte);
  EXPECT_EQ(Ways(machine, 8, 0), 56);
  EXPECT_EQ(Ways(machine, 9, 0), 48);
  EXPECT_EQ(Ways(machine, 2, 7 * kKilobyte), 48);
  EXPECT_EQ(Ways(machine, 2, 7 * kKilobyte + 1), 16);
}

TEST(L1Ways, AreWholeAndNeverMoreThanTheCacheHas) {
  machine::v1::Machine machine = Splitting();
  machine::v1::Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  memory.mutable_l1_split()->set_bytes(64 * kKilobyte - 1);
  EXPECT_EQ(Ways(machine, 1, 0), 63);
  EXPECT_EQ(Ways(machine, 1, 9 * kKilobyte), 47);
  memory.mutable_l1_data()->set_ways(50);
  EXPECT_EQ(Ways(machine, 1, 0), 50);
  EXPECT_EQ(Ways(machine, 1, 1), 50);
  EXPECT_EQ(Ways(machine, 1, 9 * kKilobyte), 47);
}

TEST(L1Ways, WithoutASplitTheCacheIsAsItStands) {
  machine::v1::Machine machine = Splitting();
  machine::v1::Hierarchy& memory = *machine.mutable_memory()->mutable_hierarchy();
  memory.mutable_l1_split()->set_bytes(0);
  EXPECT_FALSE(SplitsL1(memory));
  EXPECT_EQ(Ways(machine, 1, 48 * kKilobyte), 64);
  memory.clear_l1_split();
  EXPECT_EQ(Ways(machine, 1, 48 * kKilobyte), 64);
  machine = Splitting();
  machine.mutable_memory()->mutable_hierarchy()->mutable_l1_data()->set_sets(0);
  EXPECT_FALSE(SplitsL1(machine.memory().hierarchy())) << "no L1";
  EXPECT_EQ(Ways(machine, 1, 48 * kKilobyte), 64);
  EXPECT_EQ(Ways(LoadMachine("fermi_fixed").value(), 1, 0), 0);
}

// On an NVIDIA H200 the hits of a kernel without shared memory end at 224 KB. The sizes of a V100 are those of the CUDA
// C++ Programming Guide.
TEST(L1Ways, CardsOfToday) {
  const machine::v1::Machine h100 = LoadMachine("hopper_h100").value();
  const auto bytes = [](const machine::v1::Machine& machine, int blocks, uint32_t shared) {
    const machine::v1::Cache& cache = machine.memory().hierarchy().l1_data();
    return Ways(machine, blocks, shared) * cache.sets() * cache.line_bytes() / kKilobyte;
  };
  EXPECT_EQ(bytes(h100, 32, 0), 224);
  EXPECT_EQ(bytes(h100, 2, 0), 224) << "no kernel was seen with less than 32 KB of shared memory";
  EXPECT_EQ(bytes(h100, 1, 227 * kKilobyte), 28);
  const machine::v1::Machine v100 = LoadMachine("volta_v100").value();
  EXPECT_EQ(bytes(v100, 32, 0), 128);
  EXPECT_EQ(bytes(v100, 1, 8 * kKilobyte), 120);
  EXPECT_EQ(bytes(v100, 2, 48 * kKilobyte), 32);
}

TEST(SharedBytesPerBlock, BoundTheBlocksOfAnSm) {
  machine::v1::Machine machine = Splitting();
  machine.mutable_core()->set_max_blocks(40);
  machine.mutable_core()->set_max_threads(40 * 32);
  const auto blocks = [&machine](uint32_t shared) {
    trace::v1::Launch launch = trace::testing::MakeLaunch(0, 1000, 32);
    launch.set_dynamic_shared_bytes(shared);
    const absl::StatusOr<Occupancy> occupancy = ComputeOccupancy(machine, KernelWith(0), launch);
    const WarpOccupancy by_warp = ComputeWarpOccupancy(machine, KernelWith(0), launch);
    if (!occupancy.ok()) return std::string(occupancy.status().message());
    EXPECT_EQ(by_warp.blocks, occupancy->blocks) << "single warps take the same shared memory";
    EXPECT_EQ(by_warp.limit == "shared_memory", occupancy->limit == "shared_memory");
    return std::to_string(occupancy->blocks) + " by " + occupancy->limit;
  };
  EXPECT_EQ(blocks(0), "40 by threads");
  EXPECT_EQ(blocks(2 * kKilobyte), "24 by shared_memory");
  machine.mutable_core()->set_shared_bytes_per_block(kKilobyte);
  EXPECT_EQ(blocks(0), "40 by threads");
  EXPECT_EQ(blocks(2 * kKilobyte), "16 by shared_memory");
  EXPECT_EQ(blocks(47 * kKilobyte), "1 by shared_memory");
  EXPECT_THAT(blocks(47 * kKilobyte + 1),
              AllOf(HasSubstr("needs 49153 bytes of shared memory"), HasSubstr("the SM has 49152")));
  machine.mutable_core()->set_shared_bytes_per_block(2 * kKilobyte);
  EXPECT_EQ(blocks(0), "24 by shared_memory") << "though the program has none";
}

}  // namespace
}  // namespace heddle::replay
