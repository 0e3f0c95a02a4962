// Impossible memories are refused with the path of the field.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay/machine/machine.h"

namespace heddle::replay {
namespace {

using testing::HasSubstr;

struct Case {
  std::vector<std::string> assignments;
  std::string says;
};

// What is wrong with GTX 480 after the assignments.
std::string Refusal(const std::vector<std::string>& assignments) {
  machine::v1::Machine machine = LoadMachine("baws_gtx480").value();
  for (const std::string& assignment : assignments) {
    const absl::Status status = Override(machine, assignment);
    if (!status.ok()) return "not applied: " + std::string(status.message());
  }
  return std::string(CheckMachine(machine).message());
}

TEST(MachineCheckMemoryTest, TheMachinesOfTheProgramAreFine) {
  for (const std::string& name : ListMachines()) {
    const absl::StatusOr<machine::v1::Machine> machine = LoadMachine(name);
    EXPECT_TRUE(machine.ok()) << name << ": " << machine.status();
  }
  EXPECT_EQ(Refusal({}), "");
}

TEST(MachineCheckMemoryTest, ImpossibleMemoriesAreRefusedWithTheirField) {
  const std::string h = "memory.hierarchy.";
  const std::vector<Case> cases = {
      {{"clocks.l2_mhz=0"}, "clocks.l2_mhz = 0"},
      {{"clocks.core_mhz=99991", "clocks.dram_mhz=99989", "clocks.l2_mhz=99971"}, "small integer ratios"},
      {{h + "l1_data.sets=33"}, h + "l1_data.sets = 33: must be a power of two"},
      {{h + "l1_data.line_bytes=48"}, h + "l1_data.line_bytes = 48"},
      {{h + "l1_data.ways=0"}, h + "l1_data.ways = 0"},
      {{h + "l1_data.mshrs=0"}, h + "l1_data.mshrs = 0"},
      {{h + "l1_data.mshr_merges=0"}, h + "l1_data.mshr_merges = 0"},
      {{h + "l1_data.miss_queue=0"}, h + "l1_data.miss_queue = 0"},
      {{h + "l1_data.allocate=ON_FILL", h + "l1_data.global_write=WRITE_BACK", h + "l1_data.miss_queue=1"},
       h + "l1_data.miss_queue = 1: must be 2"},
      {{h + "l1_data.hit_cycles=0"}, h + "l1_data.hit_cycles = 0"},
      {{h + "l1_constant.sets=0", h + "l1_constant.hit_cycles=4294967295"}, h + "l1_constant.hit_cycles = 4294967295"},
      {{h + "l1_data.sets=0", h + "l1_data.miss_queue=4294967295"}, h + "l1_data.miss_queue = 4294967295"},
      {{h + "l1_data.banks=0"}, h + "l1_data.banks = 0"},
      {{h + "l1_data.global_write=READ_ONLY"}, h + "l1_data.global_write"},
      {{h + "l1_texture.global_write=WRITE_BACK"}, h + "l1_texture.global_write"},
      {{h + "all_misses_or_none=true"}, h + "coalescing"},
      {{h + "shared.banks=0"}, h + "shared.banks = 0"},
      {{h + "shared.latency=0"}, h + "shared.latency = 0"},
      {{h + "network.sms_per_port=16"}, h + "network.sms_per_port = 16"},
      {{h + "network.flit_bytes=0"}, h + "network.flit_bytes = 0"},
      {{h + "network.output_buffer_flits=4"}, h + "network.output_buffer_flits = 4: must be 5"},
      {{h + "network.input_buffer_flits=4"}, h + "network.input_buffer_flits = 4: must be 5"},
      {{h + "network.iterations=0"}, h + "network.iterations = 0"},
      {{h + "l2.input_queue=0"}, h + "l2.input_queue = 0"},
      {{h + "l2.output_queue=0"}, h + "l2.output_queue = 0"},
      {{h + "l2.dram_queue=1"}, h + "l2.dram_queue = 1"},
      {{h + "l2.cache.line_bytes=64"}, h + "l2.cache.line_bytes = 64: must be at least 128"},
      {{h + "l2.cache.global_write=WRITE_EVICT"}, h + "l2.cache.global_write"},
      {{h + "dram.controllers=0"}, h + "dram.controllers = 0"},
      {{h + "dram.banks=0"}, h + "dram.banks"},
      {{h + "dram.bank_groups=3"}, h + "dram.bank_groups"},
      {{h + "dram.burst_length=0"}, h + "dram.burst_length"},
      {{h + "dram.timing.cl=0"}, h + "dram.timing.cl"},
      {{h + "address_map.text=nonsense"}, h + "address_map.text"},
  };
  for (const Case& wrong : cases)
    EXPECT_THAT(Refusal(wrong.assignments), HasSubstr(wrong.says)) << wrong.assignments[0];
}

TEST(MachineCheckMemoryTest, SplitsOfL1AndSharedMemory) {
  const std::string split = "memory.hierarchy.l1_split.";
  const auto refusal = [&split](const std::vector<std::string>& assignments) {
    std::vector<std::string> paths;
    for (const std::string& assignment : assignments) paths.push_back(split + assignment);
    return Refusal(paths);
  };
  // Ways of 4 KB, and 48 KB of shared memory.
  EXPECT_EQ(refusal({"bytes=65536", "shared_bytes[0]=16384", "shared_bytes[1]=49152"}), "");
  EXPECT_EQ(refusal({"bytes=65536"}), split + "shared_bytes: must have at least one size of shared memory");
  EXPECT_THAT(refusal({"bytes=65536", "shared_bytes[0]=49152", "shared_bytes[1]=16384"}),
              HasSubstr(split + "shared_bytes[1] = 16384: must be 49153 to 1073741824 (sizes in ascending order)"));
  EXPECT_THAT(refusal({"bytes=65536", "shared_bytes[0]=49152", "shared_bytes[1]=49152"}),
              HasSubstr(split + "shared_bytes[1] = 49152: must be 49153"));
  EXPECT_THAT(refusal({"bytes=4294967295", "shared_bytes[0]=4294967295"}),
              HasSubstr(split + "shared_bytes[0] = 4294967295: must be 0 to 1073741824"));
  EXPECT_THAT(refusal({"bytes=65536", "shared_bytes[0]=0", "shared_bytes[1]=49151"}),
              HasSubstr(split + "shared_bytes[1] = 49151: must be 49152 to 1073741824 (the largest holds "
                                "core.shared_memory_bytes)"));
  EXPECT_THAT(refusal({"bytes=53247", "shared_bytes[0]=49152"}),
              HasSubstr(split + "bytes = 53247: must be 53248 to 2147483648 (a way of l1_data beside the largest"));
  EXPECT_EQ(refusal({"bytes=53248", "shared_bytes[0]=49152"}), "");
  EXPECT_THAT(refusal({"bytes=2147483649", "shared_bytes[0]=49152"}), HasSubstr(split + "bytes = 2147483649"));
  // What nothing reads is not looked at.
  EXPECT_EQ(refusal({"bytes=0", "shared_bytes[0]=7"}), "");
  EXPECT_EQ(Refusal({"memory.hierarchy.l1_data.sets=0", split + "bytes=1"}), "");
}

TEST(MachineCheckMemoryTest, WhatALaunchTakes) {
  EXPECT_THAT(Refusal({"dispatch.blocks_per_cycle=100001"}),
              HasSubstr("dispatch.blocks_per_cycle = 100001: must be 0 to 100000"));
  EXPECT_EQ(Refusal({"dispatch.launch_cycles=100000"}), "");
  EXPECT_THAT(Refusal({"dispatch.launch_cycles=100001"}),
              HasSubstr("dispatch.launch_cycles = 100001: must be 0 to 100000"));
  EXPECT_EQ(Refusal({"core.shared_bytes_per_block=49152"}), "");
  EXPECT_THAT(Refusal({"core.shared_bytes_per_block=49153"}),
              HasSubstr("core.shared_bytes_per_block = 49153: must be 0 to 49152"));
}

// Every number is in its range, their product would take gigabytes of the host.
TEST(MachineCheckMemoryTest, MachinesThatTheHostCannotHoldAreRefused) {
  const std::string h = "memory.hierarchy.";
  const std::vector<Case> cases = {
      {{h + "l1_data.sets=65536", h + "l1_data.ways=1024"},
       h + "l1_data: sets x ways make 1006632960 lines in the 15 caches of this kind: must be at most 16777216"},
      {{h + "l1_constant.mshrs=4096", h + "l1_constant.mshr_merges=4096"},
       h + "l1_constant: mshrs x mshr_merges make 251658240 accesses that may wait in the 15 caches"},
      {{h + "l2.cache.sets=65536", h + "l2.cache.ways=1024"},
       h + "l2.cache: sets x ways make 805306368 lines in the 12 caches"},
      {{h + "l2.cache.mshrs=4096", h + "l2.cache.mshr_merges=4096"},
       h + "l2.cache: mshrs x mshr_merges make 201326592"},
      {{"sms=1024", "core.warp_size=1", "core.max_threads=4096"}, "sms = 1024: must be at most 256"},
  };
  for (const Case& wrong : cases)
    EXPECT_THAT(Refusal(wrong.assignments), HasSubstr(wrong.says)) << wrong.assignments[0];
  // An L2 of 1.6 GB, and more MSHRs than a modern SM has.
  EXPECT_EQ(Refusal({h + "l2.cache.sets=16384", h + "l2.cache.ways=64"}), "");
  EXPECT_EQ(Refusal({h + "l1_data.mshrs=512", h + "l1_data.mshr_merges=512"}), "");
}

TEST(MachineCheckMemoryTest, WhatAnIdealMemoryDoesNotUseIsNotLookedAt) {
  EXPECT_EQ(Refusal({"memory.hierarchy.ideal_beyond_l1_cycles=100", "memory.hierarchy.l2.dram_queue=0"}), "");
}

TEST(MachineCheckMemoryTest, LinesHaveToStayInOnePlace) {
  // Controllers that change every 64 bytes would tear a line of 128 bytes apart.
  machine::v1::Machine machine = LoadMachine("baws_gtx480").value();
  machine.mutable_memory()->mutable_hierarchy()->mutable_address_map()->set_text(
      "dramid@6;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS");
  EXPECT_THAT(std::string(CheckMachine(machine).message()), HasSubstr("memory.hierarchy.address_map"));
}

}  // namespace
}  // namespace heddle::replay
