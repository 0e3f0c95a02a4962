// Input number_lines: random numbers as text.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/study/suite/inputs/generator.h"

namespace heddle::tools::suite {
namespace {

// Rows of numbers with six decimals, the same share of each value between the bounds.
std::string Make(Random& random, const InputSettings& set) {
  const auto least = static_cast<double>(set.at("least"));
  const double span = static_cast<double>(set.at("most")) - least;
  std::string text;
  for (uint64_t row = 0; row < set.at("rows"); ++row) {
    if (set.at("numbered") != 0) absl::StrAppend(&text, row, " ");
    for (uint64_t column = 0; column < set.at("columns"); ++column) {
      const double number = (least + span * random.Unit()) / static_cast<double>(set.at("divisor"));
      if (column > 0) text += ' ';
      if (set.at("whole") != 0) {
        absl::StrAppend(&text, static_cast<uint64_t>(number));
      } else {
        absl::StrAppendFormat(&text, "%.6f", number);
      }
    }
    text += '\n';
  }
  return text;
}

HEDDLE_INPUT_GENERATOR(.name = "number_lines", .what = "rows of random numbers as text, columns apart by blanks",
                       .parameters = {{"rows", "rows", 64, 1, 1 << 24},
                                      {"columns", "numbers in a row", 1, 1, 1 << 16},
                                      {"least", "smallest number, before division", 0, 0, 1 << 30},
                                      {"most", "what all numbers are below, before division", 1, 1, 1 << 30},
                                      {"divisor", "what all are divided by", 1, 1, 1 << 30},
                                      {"whole", "1 = whole numbers", 0, 0, 1},
                                      {"numbered", "1 = each row begins with its number", 0, 0, 1}},
                       .make = Make);

}  // namespace
}  // namespace heddle::tools::suite
