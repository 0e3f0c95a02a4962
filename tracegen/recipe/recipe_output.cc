// Where the trace of a recipe may not be written to.
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tracegen/recipe/recipe_file.h"
#include "tracegen/recipe/recipe_run.h"
#include "traces/format/container/replaceable.h"

namespace heddle::tracegen {

absl::Status CheckOutput(const std::string& recipe_path, const std::string& output) {
  if (output.empty()) return absl::InvalidArgumentError("-o is empty: name the trace file to write");
  std::vector<std::string> inputs = {recipe_path};
  if (absl::StatusOr<RecipeFile> file = ReadRecipeFile(recipe_path); file.ok()) {
    auto add = [&](const std::string& name) {
      if (!name.empty()) inputs.push_back(file->Resolve(name));
    };
    const recipe::v1::Recipe& recipe = file->recipe;
    add(recipe.source());
    for (const recipe::v1::Buffer& buffer : recipe.buffer()) add(buffer.fill().file().path());
    for (const recipe::v1::Launch& launch : recipe.launch()) {
      for (const recipe::v1::Symbol& symbol : launch.symbol()) add(symbol.fill().file().path());
    }
    for (const recipe::v1::Check& check : recipe.check()) {
      add(check.expected().file().path());
      add(check.program());
    }
  }
  for (const std::string& input : inputs) {
    std::error_code error;  // a file that does not exist is no other file
    if (!std::filesystem::equivalent(input, output, error)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the trace would replace ", input, ", which the capture reads: choose another name for -o"));
  }
  return trace::CheckReplaceable(output);
}

}  // namespace heddle::tracegen
