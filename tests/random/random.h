// Deterministic random numbers for tests: the same on every host and standard library.
#ifndef HEDDLE_TESTS_RANDOM_RANDOM_H_
#define HEDDLE_TESTS_RANDOM_RANDOM_H_

#include <cstdint>
#include <initializer_list>

#include "traces/base/random.h"

namespace heddle::replay {

// Spreads every bit of `value` over all bits of the result.
inline uint64_t Mix(uint64_t value) { return SplitMixHash(value); }

// A hash of several numbers, order matters.
inline uint64_t MixAll(std::initializer_list<uint64_t> values) {
  uint64_t hash = 0;
  for (uint64_t value : values) hash = Mix(hash ^ value);
  return hash;
}

// A sequence of random numbers that depends on the seed only.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(Mix(seed)) {}

  uint64_t Next() { return Mix(state_++); }
  // Uniform in [0, bound); `bound` is above 0.
  uint64_t Below(uint64_t bound) { return Next() % bound; }
  // Uniform in [first, last].
  uint64_t In(uint64_t first, uint64_t last) { return first + Below(last - first + 1); }
  // True in `per_cent` of the cases.
  bool Chance(uint64_t per_cent) { return Below(100) < per_cent; }
  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[Below(choices.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_RANDOM_RANDOM_H_
