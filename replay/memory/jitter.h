// Seeded noise on the latency of the memory.
#ifndef HEDDLE_REPLAY_MEMORY_JITTER_H_
#define HEDDLE_REPLAY_MEMORY_JITTER_H_

#include <cstdint>

namespace heddle::replay {

// Uniform numbers of cycles, one per reply in the order of the replies, so that a run is a function of its seed
// (SplitMix64: Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
class Jitter {
 public:
  // 0 to `cycles` cycles; launch `launch` of the run with this seed.
  Jitter(uint32_t cycles, uint64_t seed, uint64_t launch)
      : range_(uint64_t{cycles} + 1), state_(Mix(seed ^ Mix(launch))) {}

  bool on() const { return range_ > 1; }
  uint64_t Next() {
    if (!on()) return 0;
    state_ += 0x9e3779b97f4a7c15;
    // The high half decides: a range is at most 2^32, so that the product does not overflow.
    return (Mix(state_) >> 32) * range_ >> 32;
  }

 private:
  static uint64_t Mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t range_;
  uint64_t state_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_JITTER_H_
