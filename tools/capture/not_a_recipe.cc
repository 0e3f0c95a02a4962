#include "tools/capture/not_a_recipe.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace heddle::tracegen {

bool IsProgram(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  char start[4] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof(start));
  const absl::string_view magic(start, sizeof(start));
  return magic == "\177ELF" || absl::StartsWith(magic, "#!");
}

std::string WhyNoRecipe(const std::string& path) {
  constexpr char kRecipe[] =
      "capture takes a recipe, which says how to launch its kernels (traces/kernels/README.md), or ";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return "";
  if (absl::EndsWith(path, ".cu")) {
    return absl::StrCat(path, " is CUDA source: ", kRecipe,
                        "a program: compile it with heddle-nvcc and put -- before the program");
  }
  if (absl::EndsWith(path, ".cl")) {
    return absl::StrCat(path, " is OpenCL source: ", kRecipe, "a program that builds it: put -- before the program");
  }
  if (absl::EndsWith(path, ".bc")) {
    return absl::StrCat(path, " is LLVM bitcode: ", kRecipe, "a program that holds it: put -- before the program");
  }
  if (IsProgram(path)) return absl::StrCat(path, " is a program: put -- before it");
  return "";
}

}  // namespace heddle::tracegen
