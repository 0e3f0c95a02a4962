// Compares what kernels have computed with what they should have.
#ifndef HEDDLE_TRACEGEN_RECIPE_OUTPUT_CHECK_H_
#define HEDDLE_TRACEGEN_RECIPE_OUTPUT_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/recipe/recipe_file.h"

namespace heddle::tracegen {

// A recipe's buffer before the first and after the last launch.
struct BufferContents {
  std::string name;
  recipe::v1::ScalarType type = recipe::v1::SCALAR_UNSPECIFIED;
  uint64_t count = 0;
  std::string before;
  const void* after = nullptr;
};

// Runs all checks of the recipe. Errors: the first difference with its position; a check program that cannot be
// compiled or loaded, with the first of the compiler's messages.
absl::Status RunChecks(const RecipeFile& recipe, const std::vector<BufferContents>& buffers);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_OUTPUT_CHECK_H_
