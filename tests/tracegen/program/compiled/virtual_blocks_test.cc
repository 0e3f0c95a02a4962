// What VTW's loop over virtual blocks costs a kernel, counted by hand in its PTX.
#include "tracegen/program/compiled/virtual_blocks.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tracegen/program/snippet.h"

namespace heddle::tracegen {
namespace {

VirtualBlockCost CostOf(const std::string& source) {
  absl::StatusOr<DeviceModule> module = CompileText(source, ".cu");
  EXPECT_TRUE(module.ok()) << module.status();
  if (!module.ok()) return {};
  absl::StatusOr<std::vector<VirtualBlockCost>> costs = MeasureVirtualBlocks(*module->module, "sm_70");
  EXPECT_TRUE(costs.ok()) << costs.status();
  if (!costs.ok() || costs->size() != 1) return {};
  return costs->front();
}

// ld.param, cvta, ctaid, mul.wide, add, tid, st, ret. In the loop: ld.param and cvta in front of it, and the wrapper's
// reads of ctaid, tid, and nctaid; mul.wide, add, and st stay; the next two indices, their comparison, and a branch
// come to them, while the reads of ctaid and tid are gone.
TEST(VirtualBlockCosts, OneDimension) {
  const VirtualBlockCost cost = CostOf("__global__ void k(int* a) { a[blockIdx.x] = threadIdx.x; }");
  EXPECT_EQ(cost.kernel, "k");
  EXPECT_EQ(cost.instructions, 8u);
  EXPECT_EQ(cost.hoisted, 2u);
  EXPECT_EQ(cost.once, 3u);
  EXPECT_EQ(cost.iteration, 2u);
}

// A second dimension of the grid needs its size, a division and a remainder in every iteration.
TEST(VirtualBlockCosts, EveryDimensionCosts) {
  const VirtualBlockCost one = CostOf("__global__ void k(int* a, int* b) { a[blockIdx.x] = threadIdx.x; }");
  const VirtualBlockCost two =
      CostOf("__global__ void k(int* a, int* b) { a[blockIdx.x * 100 + blockIdx.y] = threadIdx.x; }");
  EXPECT_GE(two.iteration, one.iteration + 1);
  EXPECT_GE(two.once, one.once + 2);
}

// What depends on neither block nor thread moves out of the loop; what depends on one stays.
TEST(VirtualBlockCosts, InvariantCodeMoves) {
  const VirtualBlockCost moves = CostOf(
      "__global__ void k(float* a, float x) { float y = x * x + 3; y = y * y + x; y = y / (x + 1);"
      " a[blockIdx.x] = y; }");
  const VirtualBlockCost stays = CostOf(
      "__global__ void k(float* a, float x) { x += threadIdx.x; float y = x * x + 3; y = y * y + x; y = y / (x + 1);"
      " a[blockIdx.x] = y; }");
  EXPECT_GE(moves.hoisted, stays.hoisted + 4);
}

// Early returns go on with the next block: there is one return, behind the loop.
TEST(VirtualBlockCosts, EarlyReturnsAndTraps) {
  const VirtualBlockCost cost = CostOf(
      "__global__ void k(int* a, int n) { if (blockIdx.x >= n) return; if (a[blockIdx.x] == 7) __trap();"
      " a[blockIdx.x] = threadIdx.x; }");
  EXPECT_LE(cost.iteration, 6u);
  EXPECT_GE(cost.iteration, 2u);
}

TEST(VirtualBlockCosts, ThreadsThatExitAreRefused) {
  absl::StatusOr<DeviceModule> module =
      CompileText("__global__ void k(int* a) { if (a[threadIdx.x] == 0) asm volatile(\"exit;\"); a[0] = 1; }", ".cu");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<std::vector<VirtualBlockCost>> costs = MeasureVirtualBlocks(*module->module, "sm_70");
  EXPECT_EQ(costs.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(costs.status().message()), testing::HasSubstr("k ends threads with inline PTX 'exit'"));
}

TEST(VirtualBlockCosts, StatementsThatReadAnIndexAreRefused) {
  absl::StatusOr<DeviceModule> module =
      CompileText("__global__ void k(int* a) { int b; asm(\"mov.u32 %0, %%ctaid.x;\" : \"=r\"(b)); a[b] = 1; }", ".cu");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<std::vector<VirtualBlockCost>> costs = MeasureVirtualBlocks(*module->module, "sm_70");
  EXPECT_EQ(costs.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(costs.status().message()), testing::HasSubstr("k reads the index of its block or thread"));
}

TEST(VirtualBlockCosts, FunctionsThatReadAnIndexAreRefused) {
  absl::StatusOr<DeviceModule> module = CompileText(
      "__device__ __noinline__ int f() { return blockIdx.x; } __global__ void k(int* a) { a[threadIdx.x] = f(); }",
      ".cu");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<std::vector<VirtualBlockCost>> costs = MeasureVirtualBlocks(*module->module, "sm_70");
  EXPECT_EQ(costs.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(costs.status().message()), testing::HasSubstr("k calls f"));
}

}  // namespace
}  // namespace heddle::tracegen
