// The values of a policy's counters.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_COUNTER_VALUES_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_COUNTER_VALUES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heddle::replay {

// `Counter` is an enumeration in the order in which the policy declares its counters, with `kCount` of them. The parts
// of a policy share one of these, and each counts what it sees.
template <typename Counter, size_t kCount>
class CounterValues {
 public:
  void Count(Counter counter, uint64_t by = 1) { values_[counter] += by; }
  // For counters that keep a maximum.
  void Raise(Counter counter, uint64_t value) { values_[counter] = std::max(values_[counter], value); }

  uint64_t operator[](Counter counter) const { return values_[counter]; }
  // All of them, as DivergencePolicy::counters() hands them out.
  std::span<const uint64_t> values() const { return values_; }

 private:
  std::array<uint64_t, kCount> values_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_COUNTER_VALUES_H_
