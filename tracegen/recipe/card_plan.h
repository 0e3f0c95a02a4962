// What a machine with a graphics card needs to do what a recipe does, without Protocol Buffers and LLVM.
#ifndef HEDDLE_TRACEGEN_RECIPE_CARD_PLAN_H_
#define HEDDLE_TRACEGEN_RECIPE_CARD_PLAN_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tracegen/recipe/prepare_launch.h"
#include "tracegen/recipe/recipe_buffers.h"
#include "tracegen/recipe/recipe_code.h"
#include "tracegen/recipe/recipe_file.h"

namespace heddle::tracegen {

// Writes into `folder`, which is made if need be:
//
//   plan.txt      buffers, variables, launches and checks, one per line, as tools/hardware/README.md describes them;
//                 with the digests of all buffers before the first and after the last launch
//   kernels.ptx   the PTX that the static programs of the trace were read from, made ready for the driver
//                 (accesses are volatile only where the program has made them so)
//   FILE.bin      contents that only a capture can make (files, and kinds that need SLEEF), or lengths of rows
//
// To be called after the last launch, when the output has been found right. `launches`: by launch of the recipe.
// Errors: files that cannot be written; names that do not fit a line.
absl::Status WriteCardPlan(const std::string& folder, const RecipeFile& recipe, RecipeCode& code,
                           const RecipeBuffers& buffers, const std::vector<PreparedLaunch>& launches);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_CARD_PLAN_H_
