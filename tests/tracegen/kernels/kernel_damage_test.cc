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
    CaptureOptions options;
    options.output = output;
    options.damage_outputs = true;
    const auto summary = CaptureRecipe(path, options);
    EXPECT_TRUE(summary.ok()) << path << ": " << summary.status();
  }
}

}  // namespace
}  // namespace heddle::tracegen
