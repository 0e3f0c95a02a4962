#include "tracegen/frontend/opencl_parts.h"

#include <algorithm>

namespace heddle::tracegen {
namespace {

// A part is used only by sources that have one of these words, whole or as the part of a name that macros put together.
struct Part {
  const char* option;
  std::vector<std::string_view> words;
};

}  // namespace

std::vector<std::string> UnusedOpenClParts(std::string_view text) {
  static const auto& parts = *new std::vector<Part>{
      {"-DHEDDLE_OPENCL_WITHOUT_MORE_MATH",
       {"acosh", "asinh", "atanh", "logb", "pi", "mag", "ldexp", "rootn", "pown", "nan", "fract", "modf", "sincos",
        "frexp", "lgamma_r", "remquo", "nextafter", "half"}},
      {"-DHEDDLE_OPENCL_WITHOUT_RELATIONS", {"is", "any", "all", "select", "signbit"}},
      {"-DHEDDLE_OPENCL_WITHOUT_DATA", {"convert", "vload", "vstore"}},
      {"-DHEDDLE_OPENCL_WITHOUT_CONVERSIONS", {"convert"}},
      {"-DHEDDLE_OPENCL_WITHOUT_HALF", {"half"}},
      {"-DHEDDLE_OPENCL_WITHOUT_GROUP", {"async", "prefetch", "shuffle", "wait_group"}},
      {"-DHEDDLE_OPENCL_WITHOUT_IMAGES", {"image"}},
  };
  const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
  std::vector<std::string> options;
  // What is included cannot be seen here; ## may put any name together.
  if (has("include") || has("##")) return options;
  for (const Part& part : parts) {
    if (std::none_of(part.words.begin(), part.words.end(), has)) options.emplace_back(part.option);
  }
  return options;
}

}  // namespace heddle::tracegen
