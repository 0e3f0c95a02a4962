#include "tracegen/recipe/recipe_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/io/tokenizer.h"
#include "tracegen/execute/launch/launch_limits.h"
#include "tracegen/recipe/fill.h"
#include "tracegen/recipe/recipe_run.h"
#include "tracegen/runtime/protocol/targets.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

using google::protobuf::TextFormat;

class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!text.empty()) return;
    text = line >= 0 ? absl::StrCat(line + 1, ":", column + 1, ": ", message) : absl::StrCat(" ", message);
  }
  void AddWarning(int, int, const std::string&) override {}
  std::string text;
};

const google::protobuf::FieldDescriptor* Field(const google::protobuf::Descriptor* type, const std::string& name) {
  return type->FindFieldByName(name);
}

bool IsTarget(const std::string& text) {
  return std::ranges::any_of(device::kComputeCapabilities,
                             [&text](int number) { return text == absl::StrCat("sm_", number); });
}

absl::Status CheckRecipe(const RecipeFile& file) {
  const recipe::v1::Recipe& recipe = file.recipe;
  auto fail = [&file](const std::string& message) {
    return absl::InvalidArgumentError(absl::StrCat(file.path, ": ", message));
  };
  if (recipe.source().empty()) return fail("no source: name a .cu, .cl or .bc file");
  if (recipe.launch_size() == 0) return fail("no launch: add at least one launch { kernel: ... }");
  if (!recipe.optimization().empty() && recipe.optimization() != "-O0" && recipe.optimization() != "-O1" &&
      recipe.optimization() != "-O2" && recipe.optimization() != "-O3") {
    return fail(absl::StrCat("optimization '", recipe.optimization(), "' is not one of -O0, -O1, -O2, -O3"));
  }
  if (!recipe.target().empty() && !IsTarget(recipe.target())) {
    const auto name = [](std::string* out, int number) { absl::StrAppend(out, "sm_", number); };
    return file.Error("target", -1,
                      absl::StrCat("target '", recipe.target(), "' is not one of ",
                                   absl::StrJoin(device::kComputeCapabilities, ", ", name)));
  }
  std::set<std::string> names;
  for (int i = 0; i < recipe.buffer_size(); ++i) {
    const auto& buffer = recipe.buffer(i);
    if (buffer.name().empty()) return file.Error("buffer", i, "a buffer without a name");
    if (!names.insert(buffer.name()).second) {
      return file.Error("buffer", i, absl::StrCat("the name '", buffer.name(), "' is used twice"));
    }
    if (buffer.type() == recipe::v1::SCALAR_UNSPECIFIED) {
      return file.Error("buffer", i, absl::StrCat("buffer '", buffer.name(), "' has no type (I32, F32, ...)"));
    }
    if (!IsScalar(buffer.type())) {
      return file.Error("buffer", i,
                        absl::StrCat("buffer '", buffer.name(), "' has type ", static_cast<int>(buffer.type()),
                                     ", which is none (I32, F32, ...)"));
    }
    if (buffer.count() == 0) return file.Error("buffer", i, absl::StrCat("buffer '", buffer.name(), "' has no count"));
  }
  for (int i = 0; i < recipe.launch_size(); ++i) {
    const auto& launch = recipe.launch(i);
    if (launch.kernel().empty()) return file.Error("launch", i, "a launch without a kernel");
    for (int a = 0; a < launch.argument_size(); ++a) {
      const auto& argument = launch.argument(a);
      if (argument.kind_case() == recipe::v1::Argument::KIND_NOT_SET) {
        return file.Error("launch", i, "argument", a, "an argument without a value");
      }
      if (argument.has_buffer() && !names.contains(argument.buffer())) {
        return file.Error("launch", i, "argument", a, absl::StrCat("no buffer is named '", argument.buffer(), "'"));
      }
    }
  }
  if (recipe.resident_blocks() > kMaxResidentBlocks) {
    return fail(absl::StrCat(recipe.resident_blocks(), " resident_blocks: at most ", kMaxResidentBlocks));
  }
  for (int i = 0; i < recipe.check_size(); ++i) {
    const auto& check = recipe.check(i);
    if (!check.buffer().empty() && !names.contains(check.buffer())) {
      return file.Error("check", i, absl::StrCat("no buffer is named '", check.buffer(), "'"));
    }
    if (check.program().empty() && !check.has_expected()) {
      return file.Error("check", i, "a check needs `expected` contents or a `program`");
    }
    if (check.has_expected() && check.buffer().empty()) return file.Error("check", i, "a check without a buffer");
    if (check.tolerance() < 0) return file.Error("check", i, "a negative tolerance");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RecipeFile::Error(const std::string& field, int index, const std::string& message) const {
  auto location = lines->GetLocation(Field(recipe.GetDescriptor(), field), index);
  return absl::InvalidArgumentError(absl::StrCat(path, ":", location.line + 1, ": ", message));
}

absl::Status RecipeFile::Error(const std::string& field, int index, const std::string& inner_field, int inner,
                               const std::string& message) const {
  const auto* outer = Field(recipe.GetDescriptor(), field);
  const auto* tree = lines->GetTreeForNested(outer, index);
  if (tree == nullptr) return Error(field, index, message);
  auto location = tree->GetLocation(Field(outer->message_type(), inner_field), inner);
  return absl::InvalidArgumentError(absl::StrCat(path, ":", location.line + 1, ": ", message));
}

std::string RecipeFile::Resolve(const std::string& name) const {
  std::filesystem::path given(name);
  return given.is_absolute() ? name : (std::filesystem::path(directory) / given).string();
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is a directory, not a file"));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  std::ostringstream text;
  text << stream.rdbuf();
  if (stream.bad()) return absl::DataLossError(absl::StrCat(path, ": cannot be read to the end"));
  return std::move(text).str();
}

absl::StatusOr<RecipeFile> ReadRecipeFile(const std::string& path) {
  HEDDLE_ASSIGN_OR_RETURN(std::string text, ReadWholeFile(path));
  RecipeFile file;
  file.path = path;
  file.directory = std::filesystem::path(path).parent_path().string();
  if (file.directory.empty()) file.directory.push_back('.');
  file.text = std::move(text);
  file.lines = std::make_unique<TextFormat::ParseInfoTree>();
  FirstError error;
  TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.WriteLocationsTo(file.lines.get());
  if (!parser.ParseFromString(file.text, &file.recipe)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":", error.text));
  }
  HEDDLE_RETURN_IF_ERROR(CheckRecipe(file));
  return file;
}

absl::StatusOr<recipe::v1::Recipe> ReadRecipe(const std::string& path) {
  HEDDLE_ASSIGN_OR_RETURN(RecipeFile file, ReadRecipeFile(path));
  return std::move(file.recipe);
}

}  // namespace heddle::tracegen
