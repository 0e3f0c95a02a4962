// Random numbers that are the same everywhere: xoshiro256** seeded through splitmix64 (Blackman and Vigna, 2018).
#ifndef HEDDLE_TRACEGEN_EXECUTE_RANDOM_H_
#define HEDDLE_TRACEGEN_EXECUTE_RANDOM_H_

#include <bit>
#include <cstdint>

namespace heddle::tracegen {

inline uint64_t SplitMix(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

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

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_RANDOM_H_
