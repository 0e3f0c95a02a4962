// A recipe as read from its file, with the lines that messages about it name.
#ifndef HEDDLE_TRACEGEN_RECIPE_RECIPE_FILE_H_
#define HEDDLE_TRACEGEN_RECIPE_RECIPE_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/text_format.h"
#include "proto/recipe.pb.h"

namespace heddle::tracegen {

struct RecipeFile {
  std::string path;
  std::string directory;  // what relative paths in the recipe refer to
  std::string text;
  recipe::v1::Recipe recipe;
  std::unique_ptr<google::protobuf::TextFormat::ParseInfoTree> lines;

  // "PATH:LINE: message" with the line where element `index` of the recipe's repeated field begins.
  absl::Status Error(const std::string& field, int index, const std::string& message) const;
  // Error for element `inner` of `inner_field` inside that element.
  absl::Status Error(const std::string& field, int index, const std::string& inner_field, int inner,
                     const std::string& message) const;
  // A path of the recipe as the program can open it.
  std::string Resolve(const std::string& name) const;
};

// Errors: a file that cannot be read; text that is no recipe, with the line and the key; a recipe that contradicts
// itself (names used twice or not defined, sizes of zero, checks without anything to compare with).
absl::StatusOr<RecipeFile> ReadRecipeFile(const std::string& path);

// The whole contents of a file.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_RECIPE_RECIPE_FILE_H_
