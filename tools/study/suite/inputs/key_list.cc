// Input key_list: keys in random order, as text.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/study/suite/inputs/generator.h"

namespace heddle::tools::suite {
namespace {

// How many, then the keys 0 to that, shuffled.
std::string Make(Random& random, const InputSettings& set) {
  const uint64_t keys = set.at("keys");
  std::vector<uint64_t> order(keys);
  for (uint64_t key = 0; key < keys; ++key) order[key] = key;
  for (uint64_t last = keys - 1; last > 0; --last) std::swap(order[last], order[random.Below(last + 1)]);
  std::string text = absl::StrCat(keys, "\n");
  for (const uint64_t key : order) absl::StrAppend(&text, key, "\n");
  return text;
}

HEDDLE_INPUT_GENERATOR(.name = "key_list", .what = "number of keys, then each key once, in random order, a line each",
                       .parameters = {{"keys", "keys", 10000, 1, 1 << 24}}, .make = Make);

}  // namespace
}  // namespace heddle::tools::suite
