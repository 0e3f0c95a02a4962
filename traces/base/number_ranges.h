// Sets of numbers as people write them on a command line: "0-3,7,10-".
#ifndef HEDDLE_TRACES_BASE_NUMBER_RANGES_H_
#define HEDDLE_TRACES_BASE_NUMBER_RANGES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle {

// A set of numbers, kept as sorted ranges that do not touch. A default one holds every number.
class NumberRanges {
 public:
  NumberRanges() = default;
  // First and last number of ranges, which may lie in any order and over one another.
  explicit NumberRanges(std::vector<std::pair<uint64_t, uint64_t>> ranges);

  // Reads "3", "0-7", "8-" (8 and all above) and lists of these. Refuses an empty text or piece, anything that is no
  // number, and reversed ranges; the message begins with `what`, such as "--blocks".
  static absl::StatusOr<NumberRanges> Parse(absl::string_view text, absl::string_view what);

  // All numbers.
  bool everything() const {
    return !ranges_.empty() && ranges_.front() == std::pair<uint64_t, uint64_t>(0, ~uint64_t{0});
  }
  bool Holds(uint64_t number) const { return CountWithin(number, number) == 1; }
  // How many numbers of first to last, both included, are in the set. `last - first` must be below 2^64 - 1.
  uint64_t CountWithin(uint64_t first, uint64_t last) const;
  // First and last number of each range, ascending.
  const std::vector<std::pair<uint64_t, uint64_t>>& ranges() const { return ranges_; }

 private:
  std::vector<std::pair<uint64_t, uint64_t>> ranges_ = {{0, ~uint64_t{0}}};
};

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_NUMBER_RANGES_H_
