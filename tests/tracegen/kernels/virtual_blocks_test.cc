// Kernels in VTW's loop over virtual blocks compute what they computed before: every third small recipe of our own, or
// all of them if the environment variable HEDDLE_ALL_KERNELS is set, checked as ever.
#include "tracegen/program/compiled/virtual_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "google/protobuf/text_format.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/raw_ostream.h"
#include "tracegen/frontend/compile.h"
#include "tracegen/program/prepare.h"
#include "tracegen/recipe/recipe_file.h"
#include "tracegen/recipe/recipe_run.h"

namespace heddle::tracegen {
namespace {

std::vector<std::string> TinyRecipes() {
  std::vector<std::string> recipes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HEDDLE_KERNELS_DIR)) {
    if (entry.path().string().ends_with(".tiny.textproto")) recipes.push_back(entry.path().string());
  }
  std::sort(recipes.begin(), recipes.end());
  return recipes;
}

// The kernels of the recipe's source, wrapped, as bitcode.
absl::Status WriteWrapped(const RecipeFile& recipe, const std::string& path) {
  CompileOptions options;
  options.defines.assign(recipe.recipe.define().begin(), recipe.recipe.define().end());
  for (const std::string& folder : recipe.recipe.include_dir()) {
    options.include_dirs.push_back(recipe.Resolve(folder));
  }
  if (!recipe.recipe.optimization().empty()) options.optimization = recipe.recipe.optimization();
  options.no_unroll = recipe.recipe.no_unroll();
  if (!recipe.recipe.target().empty()) options.target = recipe.recipe.target();
  absl::StatusOr<DeviceModule> device = Compile(recipe.Resolve(recipe.recipe.source()), options);
  if (!device.ok()) return device.status();
  for (llvm::Function* kernel : KernelsOf(*device->module)) {
    if (absl::Status status = WrapInVirtualBlocks(*kernel, NextIndices::kSoftware); !status.ok()) return status;
  }
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  llvm::WriteBitcodeToFile(*device->module, stream);
  return absl::OkStatus();
}

TEST(VirtualBlocks, WrappedKernelsComputeTheSame) {
  const std::string folder = ::testing::TempDir();
  int run = 0;
  int refused = 0;
  const std::vector<std::string> recipes = TinyRecipes();
  const size_t step = std::getenv("HEDDLE_ALL_KERNELS") == nullptr ? 3 : 1;
  for (size_t i = 0; i < recipes.size(); i += step) {
    const std::string& path = recipes[i];
    SCOPED_TRACE(path);
    absl::StatusOr<RecipeFile> recipe = ReadRecipeFile(path);
    ASSERT_TRUE(recipe.ok()) << recipe.status();
    if (recipe->recipe.resident_blocks() > 1) continue;  // virtual blocks run one after the other
    const std::string bitcode = folder + "/wrapped.bc";
    if (const absl::Status status = WriteWrapped(*recipe, bitcode); !status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
      ++refused;
      continue;
    }
    recipe::v1::Recipe wrapped = recipe->recipe;
    wrapped.set_source(bitcode);
    for (recipe::v1::Check& check : *wrapped.mutable_check()) {
      if (!check.program().empty()) check.set_program(recipe->Resolve(check.program()));
    }
    std::string text;
    ASSERT_TRUE(google::protobuf::TextFormat::PrintToString(wrapped, &text));
    std::ofstream(folder + "/wrapped.textproto") << text;
    CaptureOptions options;
    options.output = folder + "/wrapped.htrace";
    const absl::StatusOr<CaptureSummary> summary = CaptureRecipe(folder + "/wrapped.textproto", options);
    EXPECT_TRUE(summary.ok()) << summary.status();
    ++run;
  }
  EXPECT_GE(run, 40 / static_cast<int>(step));
  EXPECT_LE(refused, run / 8);
}

}  // namespace
}  // namespace heddle::tracegen
