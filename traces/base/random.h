// Random numbers that are the same everywhere: xoshiro256** seeded through splitmix64 (Blackman and Vigna, 2018).
#ifndef HEDDLE_TRACES_BASE_RANDOM_H_
#define HEDDLE_TRACES_BASE_RANDOM_H_

#include <bit>
#include <cstdint>

namespace heddle {

// SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014): its last step, which
// spreads every bit over all bits, and the generator.
inline uint64_t SplitMixFinalize(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}
inline uint64_t SplitMix(uint64_t& state) { return SplitMixFinalize(state += 0x9e3779b97f4a7c15); }
// A hash of a number: the first one of the generator that starts there.
inline uint64_t SplitMixHash(uint64_t value) { return SplitMix(value); }

class Random {
 public:
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) word = SplitMix(seed);
  }

  uint64_t Next() {
    uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, 1), 53 bits.
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

  // Uniform in [0, bound), without bias; bound > 0.
  uint64_t Below(uint64_t bound) {
    for (;;) {
      unsigned __int128 product = static_cast<unsigned __int128>(Next()) * bound;
      auto low = static_cast<uint64_t>(product);
      if (low >= bound || low >= (0 - bound) % bound) return static_cast<uint64_t>(product >> 64);
    }
  }

 private:
  uint64_t state_[4];
};

}  // namespace heddle

#endif  // HEDDLE_TRACES_BASE_RANDOM_H_
