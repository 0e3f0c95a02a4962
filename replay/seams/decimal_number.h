// Decimal numbers that keep their digits: parameters of policies that are no whole numbers.
#ifndef HEDDLE_REPLAY_SEAMS_DECIMAL_NUMBER_H_
#define HEDDLE_REPLAY_SEAMS_DECIMAL_NUMBER_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heddle::replay {

// A decimal number from -1,000,000 to 1,000,000 with at most nine decimal places, exact. So each has one spelling, and
// is the same after it has been written and read.
class DecimalNumber {
 public:
  static constexpr int64_t kOne = 1'000'000'000;  // billionths
  static constexpr int64_t kMost = 1'000'000;

  constexpr DecimalNumber() = default;
  // "0.25", "-3", "0.250"; nothing for any other text: no exponents, no bare points, no further places, none beyond
  // kMost.
  static std::optional<DecimalNumber> Parse(std::string_view text);

  constexpr int64_t billionths() const { return billionths_; }
  // The nearest floating-point number: both operands are exact, so that every host rounds alike.
  constexpr double value() const { return static_cast<double>(billionths_) / static_cast<double>(kOne); }
  // In its one spelling: "0.25", "-3".
  std::string Text() const;

  friend constexpr auto operator<=>(DecimalNumber, DecimalNumber) = default;

 private:
  int64_t billionths_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_DECIMAL_NUMBER_H_
