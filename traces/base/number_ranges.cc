#include "traces/base/number_ranges.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace heddle {

NumberRanges::NumberRanges(std::vector<std::pair<uint64_t, uint64_t>> ranges) : ranges_(std::move(ranges)) {
  std::sort(ranges_.begin(), ranges_.end());
  size_t kept = 0;
  for (const auto& range : ranges_) {
    if (kept > 0 && (ranges_[kept - 1].second == ~uint64_t{0} || range.first <= ranges_[kept - 1].second + 1)) {
      ranges_[kept - 1].second = std::max(ranges_[kept - 1].second, range.second);
    } else {
      ranges_[kept++] = range;
    }
  }
  ranges_.resize(kept);
}

absl::StatusOr<NumberRanges> NumberRanges::Parse(absl::string_view text, absl::string_view what) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (absl::string_view piece : absl::StrSplit(text, ',')) {
    const auto refuse = [&](absl::string_view rule) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": \"", piece, "\" ", rule, "; give numbers and ranges such as 3, 0-7 or 8-"));
    };
    const std::vector<absl::string_view> ends = absl::StrSplit(piece, absl::MaxSplits('-', 1));
    uint64_t first = 0;
    // SimpleAtoi would take signs and blanks.
    const auto number = [](absl::string_view digits, uint64_t& to) {
      return !digits.empty() && digits.find_first_not_of("0123456789") == absl::string_view::npos &&
             absl::SimpleAtoi(digits, &to);
    };
    if (!number(ends[0], first)) return refuse("is no number");
    uint64_t last = first;
    if (ends.size() == 2) {
      last = ~uint64_t{0};
      if (!ends[1].empty() && !number(ends[1], last)) return refuse("is no range of numbers");
    }
    if (last < first) return refuse("ends before it begins");
    ranges.push_back({first, last});
  }
  return NumberRanges(std::move(ranges));
}

uint64_t NumberRanges::CountWithin(uint64_t first, uint64_t last) const {
  uint64_t count = 0;
  auto it = std::lower_bound(ranges_.begin(), ranges_.end(), first,
                             [](const std::pair<uint64_t, uint64_t>& range, uint64_t n) { return range.second < n; });
  for (; it != ranges_.end() && it->first <= last; ++it) {
    count += std::min(last, it->second) - std::max(first, it->first) + 1;
  }
  return count;
}

}  // namespace heddle
