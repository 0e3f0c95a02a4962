// Seeded noise on the latency of the memory.
#ifndef HEDDLE_REPLAY_MEMORY_JITTER_H_
#define HEDDLE_REPLAY_MEMORY_JITTER_H_

#include <cstdint>

#include "traces/base/random.h"

namespace heddle::replay {

// Uniform numbers of cycles, one per reply in the order of the replies, so that a run is a function of its seed.
class Jitter {
 public:
  // 0 to `cycles` cycles; launch `launch` of the run with this seed.
  Jitter(uint32_t cycles, uint64_t seed, uint64_t launch)
      : range_(uint64_t{cycles} + 1), state_(SplitMixFinalize(seed ^ SplitMixFinalize(launch))) {}

  bool on() const { return range_ > 1; }
  uint64_t Next() {
    if (!on()) return 0;
    // The high half decides: a range is at most 2^32, so that the product does not overflow.
    return (SplitMix(state_) >> 32) * range_ >> 32;
  }

 private:
  uint64_t range_;
  uint64_t state_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_JITTER_H_
