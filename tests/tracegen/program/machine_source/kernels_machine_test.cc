// Our own kernels as machine code: what the user's nvcc and assembler make of them passes the kernels' own checks.
// Kernels with an instruction that has no meaning yet are refused with its place, and counted. Without a toolkit, or
// without nvdisasm, it is skipped by name. By default a share of the kernels is tried, another one for each
// architecture; HEDDLE_ALL_KERNELS=1 takes all.
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

class KernelsMachineTest : public CaptureTest {
 protected:
  // One kernel of `step`, from the one with number `first` on, unless all are tried.
  void Try(const std::string& architecture, size_t first, size_t step);
};

void KernelsMachineTest::Try(const std::string& architecture, size_t first, size_t step) {
  if (std::getenv("HEDDLE_ALL_KERNELS") != nullptr) first = 0, step = 1;
  const absl::StatusOr<machine::Toolchain> toolchain = machine::Toolchain::Find();
  if (!toolchain.ok()) GTEST_SKIP() << toolchain.status().message();
  std::vector<fs::path> recipes;
  std::error_code none;
  for (const auto& entry : fs::recursive_directory_iterator(HEDDLE_NVCC_PTX_DIR, none)) {
    if (entry.path().filename().string().ends_with(".nvcc.textproto")) recipes.push_back(entry.path());
  }
  if (recipes.empty()) GTEST_SKIP() << "there is no PTX of nvcc";
  std::sort(recipes.begin(), recipes.end());
  options_.machine_code = true;
  options_.machine_level.architecture = architecture;
  options_.compare_with_native = false;
  size_t tried = 0, right = 0;
  for (size_t i = first; i < recipes.size(); i += step) {
    ++tried;
    const absl::StatusOr<CaptureSummary> summary = CaptureRecipe(recipes[i].string(), options_);
    if (summary.ok()) {
      ++right;
      EXPECT_GT(summary->thread_instructions, 0u) << recipes[i];
      continue;
    }
    // PTX for a newer architecture.
    if (summary.status().message().find("SM version specified by .target is higher") != std::string::npos) {
      --tried;
      continue;
    }
    // Only what is not known may fail, and it says so.
    EXPECT_EQ(summary.status().code(), absl::StatusCode::kUnimplemented) << recipes[i] << ": " << summary.status();
    EXPECT_THAT(std::string(summary.status().message()), HasSubstr("yet")) << recipes[i];
    std::cout << recipes[i].stem() << ": " << summary.status().message() << std::endl;
  }
  std::cout << right << " of " << tried << " kernels run on " << architecture << ", out of " << recipes.size() << "\n";
  EXPECT_GE(right * 10, tried * 9);
}

TEST_F(KernelsMachineTest, OutputsOfSm80AreRight) { Try("sm_80", 0, 8); }
TEST_F(KernelsMachineTest, OutputsOfSm90AreRight) { Try("sm_90", 6, 8); }
// They differ little from sm_80.
TEST_F(KernelsMachineTest, OutputsOfSm75AreRight) { Try("sm_75", 18, 24); }
TEST_F(KernelsMachineTest, OutputsOfSm86AreRight) { Try("sm_86", 7, 24); }

}  // namespace
}  // namespace heddle::tracegen
