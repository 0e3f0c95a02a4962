#include "traces/base/number_ranges.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace heddle {

NumberRanges::NumberRanges(std::span<const uint64_t> numbers) {
  ranges_.clear();
  for (const uint64_t number : numbers) {
    if (!ranges_.empty() && ranges_.back().second + 1 == number) {
      ranges_.back().second = number;
    } else {
      ranges_.emplace_back(number, number);
    }
  }
}

absl::StatusOr<NumberRanges> NumberRanges::Parse(absl::string_view text, absl::string_view what) {
  NumberRanges out;
  out.ranges_.clear();
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
    out.ranges_.push_back({first, last});
  }
  std::sort(out.ranges_.begin(), out.ranges_.end());
  size_t kept = 0;
  for (const auto& range : out.ranges_) {
    if (kept > 0 && (out.ranges_[kept - 1].second == ~uint64_t{0} || range.first <= out.ranges_[kept - 1].second + 1)) {
      out.ranges_[kept - 1].second = std::max(out.ranges_[kept - 1].second, range.second);
    } else {
      out.ranges_[kept++] = range;
    }
  }
  out.ranges_.resize(kept);
  return out;
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
