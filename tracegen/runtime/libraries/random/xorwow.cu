// XORWOW of the host interface.
#include "tracegen/runtime/libraries/random/streams.cuh"

namespace heddle::libraries {

curandStatus_t SeedXorwow(curandGenerator_t generator) { return Seed<curandStateXORWOW>(generator); }

curandStatus_t GenerateXorwow(curandGenerator_t generator, const Draw& draw) {
  return GenerateFromStreams<curandStateXORWOW>(generator, draw);
}

}  // namespace heddle::libraries
