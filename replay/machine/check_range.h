// How the checks of a machine refuse a value: with the field's path, the value, and what would be right.
#ifndef HEDDLE_REPLAY_MACHINE_CHECK_RANGE_H_
#define HEDDLE_REPLAY_MACHINE_CHECK_RANGE_H_

#include <bit>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace heddle::replay {

// Bound of every latency in a machine: keeps counters and times of events far from overflow; no real machine comes
// near.
inline constexpr uint64_t kMaxLatency = 100'000;
// Bound of bytes of shared memory.
inline constexpr uint64_t kMaxSharedBytes = 1u << 30;

// "PATH = VALUE: must be RULE".
inline absl::Status Refuse(const std::string& path, uint64_t value, const std::string& rule) {
  return absl::InvalidArgumentError(absl::StrCat(path, " = ", value, ": must be ", rule));
}

inline absl::Status CheckRange(const std::string& path, uint64_t value, uint64_t low, uint64_t high,
                               const std::string& reason = "") {
  if (value >= low && value <= high) return absl::OkStatus();
  return Refuse(path, value,
                absl::StrCat(low, " to ", high, reason.empty() ? "" : " (", reason, reason.empty() ? "" : ")"));
}

inline absl::Status CheckPowerOfTwo(const std::string& path, uint64_t value, uint64_t low, uint64_t high) {
  if (value >= low && value <= high && std::has_single_bit(value)) return absl::OkStatus();
  return Refuse(path, value, absl::StrCat("a power of two from ", low, " to ", high));
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MACHINE_CHECK_RANGE_H_
