#include "replay/seams/decimal_number.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace heddle::replay {

std::optional<DecimalNumber> DecimalNumber::Parse(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view places = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() || (point != std::string_view::npos && places.empty()) || places.size() > 9) return std::nullopt;
  int64_t billionths = 0;
  for (const char digit : whole) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(digit))) return std::nullopt;
    billionths = 10 * billionths + (digit - '0');
    if (billionths > kMost) return std::nullopt;
  }
  for (size_t place = 0; place < 9; ++place) {
    const char digit = place < places.size() ? places[place] : '0';
    if (!absl::ascii_isdigit(static_cast<unsigned char>(digit))) return std::nullopt;
    billionths = 10 * billionths + (digit - '0');
  }
  if (billionths > kMost * kOne) return std::nullopt;
  DecimalNumber number;
  number.billionths_ = negative ? -billionths : billionths;
  return number;
}

std::string DecimalNumber::Text() const {
  const int64_t size = billionths_ < 0 ? -billionths_ : billionths_;
  std::string text = absl::StrCat(billionths_ < 0 ? "-" : "", size / kOne);
  if (size % kOne == 0) return text;
  std::string places = absl::StrCat(size % kOne);
  places.insert(0, 9 - places.size(), '0');
  while (places.back() == '0') places.pop_back();
  return absl::StrCat(text, ".", places);
}

}  // namespace heddle::replay
