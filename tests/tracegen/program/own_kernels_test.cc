// Every kernel that the project ships can be read, and its program satisfies every rule of the format.
#include <filesystem>
#include <utility>

#include "gtest/gtest.h"
#include "tests/tracegen/ptx/syntax/snippet.h"
#include "tracegen/frontend/compile.h"
#include "tracegen/program/compiled/canonicalize.h"
#include "tracegen/program/kernel_list.h"
#include "tracegen/program/static_program.h"
#include "tracegen/recipe/recipe_file.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {
namespace {

TEST(OwnKernels, AllAreReadAndValid) {
  int kernels = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HEDDLE_KERNELS_DIR)) {
    const std::string ending = entry.path().extension().string();
    if (ending != ".cu" && ending != ".cl") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const absl::StatusOr<RecipeFile> recipe =
        ReadRecipeFile(std::filesystem::path(entry.path()).replace_extension(".tiny.textproto").string());
    ASSERT_TRUE(recipe.ok()) << recipe.status();
    CompileOptions options;
    if (!recipe->recipe.target().empty()) options.target = recipe->recipe.target();
    absl::StatusOr<DeviceModule> device = Compile(entry.path().string(), options);
    ASSERT_TRUE(device.ok()) << device.status();
    absl::StatusOr<CanonicalModule> module =
        Canonicalize(std::move(device->context), std::move(device->module), options.target);
    ASSERT_TRUE(module.ok()) << module.status();
    ptx::ExpectSameTree(module->ptx);
    for (const KernelName& name : ListKernels(*module)) {
      absl::StatusOr<KernelUnit> unit = ReadKernel(*module, name.mangled);
      ASSERT_TRUE(unit.ok()) << unit.status();
      EXPECT_EQ(unit->program.function(0).block_count() > 0, true);
      absl::StatusOr<trace::Program> program = trace::Program::Create(unit->program);
      EXPECT_TRUE(program.ok()) << program.status();
      ++kernels;
    }
  }
  EXPECT_GE(kernels, 9);
}

}  // namespace
}  // namespace heddle::tracegen
