// Compares what kernels have computed with what they should have.
#ifndef HEDDLE_TRACEGEN_RECIPE_OUTPUT_CHECK_H_
#define HEDDLE_TRACEGEN_RECIPE_OUTPUT_CHECK_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

// The checks of a recipe, which may run several times. Each program is compiled and loaded when it first runs.
class OutputChecks {
 public:
  // `recipe` lives longer.
  explicit OutputChecks(const RecipeFile& recipe) : recipe_(recipe) {}

  // Errors: the first difference with its position; a check program that cannot be compiled or loaded, with the first
  // of the compiler's messages.
  absl::Status Run(const std::vector<BufferContents>& buffers);

 private:
  struct Unload {
    void operator()(void* library) const;
  };
  using Library = std::unique_ptr<void, Unload>;

  static absl::StatusOr<Library> Compile(const std::string& source);
  absl::Status RunProgram(const std::string& program, const std::vector<BufferContents>& buffers);

  const RecipeFile& recipe_;
  std::map<std::string, Library> libraries_;  // by the program's name in the recipe
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_OUTPUT_CHECK_H_
