// Our own kernels as machine code: what the user's nvcc and assembler make of them passes the kernels' own checks.
// Kernels with an instruction that has no meaning yet are refused with its place, and counted. Without a toolkit, or
// without nvdisasm, it is skipped by name. By default every eighth kernel is tried; HEDDLE_ALL_KERNELS=1 takes all.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "tests/tracegen/execute/capture_fixture.h"
#include "tracegen/machine/toolchain/toolchain.h"

namespace heddle::tracegen {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class KernelsMachineTest : public CaptureTest {};

TEST_F(KernelsMachineTest, OutputsAreRight) {
  const absl::StatusOr<machine::Toolchain> toolchain = machine::Toolchain::Find();
  if (!toolchain.ok()) GTEST_SKIP() << toolchain.status().message();
  std::vector<fs::path> recipes;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(HEDDLE_NVCC_PTX_DIR, none)) {
    if (entry.path().filename().string().ends_with(".nvcc.textproto")) recipes.push_back(entry.path());
  }
  if (recipes.empty()) GTEST_SKIP() << "there is no PTX of nvcc";
  std::sort(recipes.begin(), recipes.end());
  const size_t step = std::getenv("HEDDLE_ALL_KERNELS") != nullptr ? 1 : 8;
  options_.machine_code = true;
  options_.compare_with_native = false;
  size_t tried = 0, right = 0;
  for (size_t i = 0; i < recipes.size(); i += step) {
    ++tried;
    const absl::StatusOr<CaptureSummary> summary = CaptureRecipe(recipes[i].string(), options_);
    if (summary.ok()) {
      ++right;
      EXPECT_GT(summary->thread_instructions, 0u) << recipes[i];
      continue;
    }
    // Only what is not known may fail, and it says so.
    EXPECT_EQ(summary.status().code(), absl::StatusCode::kUnimplemented) << recipes[i] << ": " << summary.status();
    EXPECT_THAT(std::string(summary.status().message()), HasSubstr("yet")) << recipes[i];
    std::cout << recipes[i].stem() << ": " << summary.status().message() << std::endl;
  }
  std::cout << right << " of " << tried << " kernels run, out of " << recipes.size() << "\n";
  EXPECT_GE(right * 10, tried * 9);
}

}  // namespace
}  // namespace heddle::tracegen
