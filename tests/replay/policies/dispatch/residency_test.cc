// How many blocks, and warps, fit on an SM under the dispatchers.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "tests/replay/core/engine_harness.h"

namespace heddle::replay {
namespace {

using trace::testing::ProgramBuilder;

trace::Program ProgramWithRegisters(uint32_t registers) {
  trace::v1::KernelProgram program = ProgramBuilder("kernel").Block("end").Exit().Build();
  program.set_registers_requested(registers);
  auto checked = trace::Program::Create(program);
  EXPECT_TRUE(checked.ok()) << checked.status();
  return *std::move(checked);
}

// Table 7 of the VTW paper: ten kernels, registers per thread before and after its transformation, and the blocks that
// the whole GPU holds. The paper does not give the threads per block; those of mergeSortPass, cfd, b+tree, backprop and
// mri-q are in their public sources (Rodinia, Parboil), the others are those with which the table comes out.
TEST(Residency, TheTenKernelsOfTable7) {
  struct Row {
    const char* kernel;
    uint32_t threads;
    uint32_t registers, transformed_registers;
    int blocks, transformed_blocks;
  };
  const Row rows[] = {{"mergeSortPass", 208, 28, 30, 75, 60},       {"findRangeK", 256, 19, 22, 90, 75},
                      {"cu_time_step", 192, 18, 22, 120, 105},      {"srad2", 512, 18, 22, 45, 30},
                      {"cu_comp_step_fact", 192, 19, 23, 120, 105}, {"srad_cu_1", 256, 19, 23, 90, 75},
                      {"kmeansPoint", 256, 17, 22, 90, 75},         {"ComputeQ_GPU", 256, 21, 20, 75, 90},
                      {"bpnn_adjust_wts_cu", 256, 18, 24, 90, 75},  {"srad_cu_2", 256, 17, 22, 90, 75}};
  const auto machine = LoadMachine("vtw_gtx480");
  ASSERT_TRUE(machine.ok()) << machine.status();
  const auto blocks = [&](uint32_t threads, uint32_t registers, uint32_t extra) {
    trace::v1::Launch launch;
    launch.mutable_block()->set_x(threads);
    const auto occupancy = ComputeOccupancy(*machine, ProgramWithRegisters(registers), launch, extra);
    EXPECT_TRUE(occupancy.ok()) << occupancy.status();
    return occupancy.ok() ? occupancy->blocks * static_cast<int>(machine->sms()) : 0;
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.kernel);
    EXPECT_EQ(blocks(row.threads, row.registers, 0), row.blocks);
    EXPECT_EQ(blocks(row.threads, row.transformed_registers, 0), row.transformed_blocks);
    if (row.transformed_registers < row.registers) continue;
    EXPECT_EQ(blocks(row.threads, row.registers, row.transformed_registers - row.registers), row.transformed_blocks);
  }
}

// extra_registers is part of the residency of a run.
TEST(Residency, VirtualBlocksTakeMoreRegisters) {
  trace::v1::KernelProgram program = ProgramBuilder("kernel").Block("end").Alu(1).Exit().Build();
  program.set_registers_requested(18);
  const auto trace = MakeTrace(program, 40, std::vector<trace::testing::ThreadTrace>(40 * 512, Thread({})));
  auto machine = LoadMachine("fermi_fixed");
  ASSERT_TRUE(machine.ok()) << machine.status();
  machine->set_sms(2);
  machine->mutable_core()->set_registers(32768);
  RunOptions options;
  options.machine = *machine;
  EXPECT_EQ(RunTrace(*trace, options).launch().blocks_per_sm(), 3u);
  options.dispatch = "virtual_blocks:extra_registers=2";
  EXPECT_EQ(RunTrace(*trace, options).launch().blocks_per_sm(), 3u) << "20 registers, as 18 are rounded up to";
  options.dispatch = "virtual_blocks";
  const Outcome outcome = RunTrace(*trace, options);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_EQ(outcome.launch().blocks_per_sm(), 2u);
  EXPECT_EQ(outcome.launch().dispatch_counter().at("virtual_blocks"), 4u);
  EXPECT_EQ(outcome.launch().dispatch_counter().at("iterations"), (40u - 4u) * 16u);
}

// One warp at a time takes what is left of threads and registers; blocks and shared memory count as before.
TEST(Residency, OfSingleWarps) {
  const auto machine = LoadMachine("vtw_gtx480");
  ASSERT_TRUE(machine.ok()) << machine.status();
  trace::v1::Launch launch;
  launch.mutable_block()->set_x(512);
  WarpOccupancy occupancy = ComputeWarpOccupancy(*machine, ProgramWithRegisters(22), launch);
  EXPECT_EQ(occupancy.warps, 32768 / (24 * 32)) << "42 warps, where only 2 blocks of 16 fit";
  EXPECT_EQ(occupancy.blocks, 8);
  EXPECT_EQ(occupancy.limit, "blocks");
  launch.set_dynamic_shared_bytes(20000);
  occupancy = ComputeWarpOccupancy(*machine, ProgramWithRegisters(8), launch);
  EXPECT_EQ(occupancy.warps, 48);
  EXPECT_EQ(occupancy.blocks, 2);
  EXPECT_EQ(occupancy.limit, "shared_memory");
}

}  // namespace
}  // namespace heddle::replay
