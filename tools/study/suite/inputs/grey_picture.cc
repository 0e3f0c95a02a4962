// Input grey_picture: a grey picture as a PGM file in text.
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/study/suite/inputs/generator.h"

namespace heddle::tools::suite {
namespace {

// Brighter stripes on a dark ground; each pixel is multiplied by noise, as speckles do.
std::string Make(Random& random, const InputSettings& set) {
  const uint64_t width = set.at("width");
  const uint64_t height = set.at("height");
  std::string text = absl::StrCat("P2\n# heddle\n", width, " ", height, "\n255\n");
  for (uint64_t y = 0; y < height; ++y) {
    for (uint64_t x = 0; x < width; ++x) {
      const uint64_t ground = (x / 32 + y / 48) % 3 == 0 ? 180 : 60;
      absl::StrAppend(&text, 1 + ground * (128 + random.Below(128)) / 256, " ");
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

HEDDLE_INPUT_GENERATOR(.name = "grey_picture", .what = "PGM in text, 255 levels of grey: stripes with speckles",
                       .parameters = {{"width", "pixels", 64, 1, 8192}, {"height", "pixels", 64, 1, 8192}},
                       .make = Make);

}  // namespace
}  // namespace heddle::tools::suite
