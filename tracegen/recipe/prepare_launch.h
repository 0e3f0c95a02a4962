// From a recipe's launch to geometry and parameter memory.
#ifndef HEDDLE_TRACEGEN_RECIPE_PREPARE_LAUNCH_H_
#define HEDDLE_TRACEGEN_RECIPE_PREPARE_LAUNCH_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/recipe/recipe_file.h"

namespace heddle::tracegen {

// Values of the parameters in the layout of parameter memory, and what has to be added to the launch for them.
struct PreparedLaunch {
  Geometry geometry;
  std::string parameters;  // bytes of parameter memory, each at its KernelParameter::offset
};

// Checks launch `index` of the recipe against the kernel and the device's limits. `address_of` gives the address of a
// buffer. Errors name the recipe's line: number and kinds of arguments, values out of range, too many threads or
// others than the kernel is declared for, too much shared memory.
absl::StatusOr<PreparedLaunch> PrepareLaunch(const RecipeFile& recipe, int index, const InstrumentedKernel& kernel,
                                             const std::function<uint64_t(const std::string&)>& address_of);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_PREPARE_LAUNCH_H_
