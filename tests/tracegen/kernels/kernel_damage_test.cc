// No check of our kernels lets a wrong output pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

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

TEST(KernelDamage, EveryCheckRefusesADamagedOutput) {
  const std::vector<std::string> recipes = TinyRecipes();
  ASSERT_GE(recipes.size(), 40u);
  const std::string output = ::testing::TempDir() + "/damaged.htrace";
  for (const std::string& path : recipes) {
    const auto recipe = ReadRecipe(path);
    ASSERT_TRUE(recipe.ok()) << recipe.status();
    EXPECT_GT(recipe->check_size(), 0) << path;
    for (int check = 0; check < recipe->check_size(); ++check) {
      CaptureOptions options;
      options.output = output;
      options.damage_output_of_check = check;
      const auto summary = CaptureRecipe(path, options);
      EXPECT_FALSE(summary.ok()) << path << ": nobody notices that " << recipe->check(check).buffer() << " is damaged";
      EXPECT_EQ(summary.status().code(), absl::StatusCode::kFailedPrecondition) << summary.status();
    }
  }
}

}  // namespace
}  // namespace heddle::tracegen
