// Input sequences: DNA in FASTA form, a reference or reads of it.
#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "tools/study/suite/inputs/generator.h"

namespace heddle::tools::suite {
namespace {

// The reference depends on the seed alone, so that reads of the same seed are reads of it.
std::string Make(Random& random, const InputSettings& set) {
  constexpr char kBases[] = "ACGT";
  std::string reference;
  for (uint64_t base = 0; base < set.at("bases"); ++base) reference += kBases[random.Below(4)];
  const uint64_t reads = set.at("reads");
  if (reads == 0) {
    std::string text = ">reference\n";
    for (size_t at = 0; at < reference.size(); at += 70) absl::StrAppend(&text, reference.substr(at, 70), "\n");
    return text;
  }
  const uint64_t length = std::min(set.at("length"), set.at("bases"));
  std::string text;
  for (uint64_t read = 0; read < reads; ++read) {
    std::string bases = reference.substr(random.Below(reference.size() - length + 1), length);
    for (char& base : bases) {
      if (random.Below(1000) < set.at("errors")) base = kBases[random.Below(4)];
    }
    absl::StrAppend(&text, ">read", read, "\n", bases, "\n");
  }
  return text;
}

HEDDLE_INPUT_GENERATOR(.name = "sequences", .what = "FASTA: a random DNA reference, or reads of the one with this seed",
                       .parameters = {{"bases", "of the reference", 10000, 1, 1 << 26},
                                      {"reads", "0 = the reference itself", 0, 0, 1 << 24},
                                      {"length", "bases of a read", 100, 1, 1 << 16},
                                      {"errors", "wrong bases in 1,000", 10, 0, 1000}},
                       .make = Make);

}  // namespace
}  // namespace heddle::tools::suite
