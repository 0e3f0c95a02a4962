// Input random_bytes: bytes of a chosen entropy.
#include <bit>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/study/suite/inputs/generator.h"

namespace heddle::tools::suite {
namespace {

// Each byte is the number of leading zeros of a random word, mixed with a uniform one in `uniform` of 256 cases: the
// more of those, the more bits of entropy.
std::string Make(Random& random, const InputSettings& set) {
  std::string bytes(set.at("bytes"), 0);
  for (char& byte : bytes) {
    const uint64_t word = random.Next();
    const bool uniform = (word & 255) < set.at("uniform");
    byte = static_cast<char>(uniform ? (word >> 8) & 255 : static_cast<uint64_t>(std::countl_zero(word | 256)));
  }
  return bytes;
}

HEDDLE_INPUT_GENERATOR(.name = "random_bytes", .what = "bytes, few of them frequent and the others uniform",
                       .parameters = {{"bytes", "bytes", 65536, 1, 1 << 28},
                                      {"uniform", "uniform ones of 256", 16, 0, 256}},
                       .make = Make);

}  // namespace
}  // namespace heddle::tools::suite
