#include "replay/memory/ports/clock_domains.h"

#include <algorithm>
#include <numeric>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace heddle::replay {

absl::StatusOr<std::array<Tick, kDomains>> ClockPeriods(const machine::v1::Clocks& clocks) {
  struct Clock {
    const char* path;
    uint64_t mhz;
  };
  const Clock by_domain[kDomains] = {{"clocks.dram_mhz", clocks.dram_mhz()},
                                     {"clocks.l2_mhz", clocks.l2_mhz()},
                                     {"clocks.network_mhz", clocks.network_mhz()},
                                     {"clocks.core_mhz", clocks.core_mhz()}};
  const auto zeros =
      std::count_if(std::begin(by_domain), std::end(by_domain), [](const Clock& c) { return c.mhz == 0; });
  if (zeros == kDomains) return std::array<Tick, kDomains>{1, 1, 1, 1};
  constexpr uint64_t kMaxMhz = 100'000;
  for (const Clock& clock : by_domain) {
    if (clock.mhz == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(clock.path, " = 0: give all four frequencies, or none for one clock for everything"));
    }
    if (clock.mhz > kMaxMhz) {
      return absl::InvalidArgumentError(absl::StrCat(clock.path, " = ", clock.mhz, ": must be at most ", kMaxMhz));
    }
  }
  // Period = least common multiple / frequency. Divided by the frequencies' common divisor first, four of at most 10^5
  // have a common multiple of at most 10^20, so each step is checked.
  uint64_t divisor = 0;
  for (const Clock& clock : by_domain) divisor = std::gcd(divisor, clock.mhz);
  // Periods up to this leave room for more than 10^12 cycles in 64 bits.
  constexpr uint64_t kMaxPeriod = 1u << 23;
  uint64_t multiple = 1;
  for (const Clock& clock : by_domain) {
    multiple = std::lcm(multiple, clock.mhz / divisor);
    if (multiple / (clock.mhz / divisor) > kMaxPeriod) {
      return absl::InvalidArgumentError(
          absl::StrCat("clocks: the frequencies have no small integer ratios (", clock.path, " = ", clock.mhz,
                       "): choose frequencies with common divisors, such as multiples of 5 MHz"));
    }
  }
  std::array<Tick, kDomains> periods;
  Tick longest = 0;
  for (int d = 0; d < kDomains; ++d) {
    periods[d] = multiple / (by_domain[d].mhz / divisor);
    longest = std::max(longest, periods[d]);
  }
  if (longest > kMaxPeriod) {
    return absl::InvalidArgumentError(
        "clocks: the frequencies have no small integer ratios: choose frequencies with common divisors, such as "
        "multiples of 5 MHz");
  }
  return periods;
}

}  // namespace heddle::replay
