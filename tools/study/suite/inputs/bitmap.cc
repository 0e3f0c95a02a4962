// Input bitmap: a coloured picture as an uncompressed BMP file.
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/study/suite/inputs/generator.h"

namespace heddle::tools::suite {
namespace {

// Little-endian numbers.
void Append(std::string& bytes, uint64_t number, int size) {
  for (int byte = 0; byte < size; ++byte) bytes += static_cast<char>(number >> (8 * byte) & 255);
}

std::string Make(Random& random, const InputSettings& set) {
  const uint64_t width = set.at("width");
  const uint64_t height = set.at("height");
  const uint64_t row_bytes = (width * 3 + 3) / 4 * 4;
  std::string file = "BM";
  for (const uint64_t word : {54 + row_bytes * height, uint64_t{0}, uint64_t{54}, uint64_t{40}, width, height}) {
    Append(file, word, 4);
  }
  Append(file, 1, 2);
  Append(file, 24, 2);
  for (const uint64_t word :
       {uint64_t{0}, row_bytes * height, uint64_t{2835}, uint64_t{2835}, uint64_t{0}, uint64_t{0}}) {
    Append(file, word, 4);
  }
  for (uint64_t y = 0; y < height; ++y) {
    for (uint64_t x = 0; x < width; ++x) {
      Append(file, (x * 255 / width + random.Below(16)) & 255, 1);
      Append(file, (y * 255 / height + random.Below(16)) & 255, 1);
      Append(file, ((x / 16 + y / 16) % 2 * 160 + random.Below(16)) & 255, 1);
    }
    file.append(row_bytes - width * 3, 0);
  }
  return file;
}

HEDDLE_INPUT_GENERATOR(.name = "bitmap", .what = "uncompressed BMP, 24 bits: slopes and squares, with noise",
                       .parameters = {{"width", "pixels", 64, 1, 8192}, {"height", "pixels", 64, 1, 8192}},
                       .make = Make);

}  // namespace
}  // namespace heddle::tools::suite
