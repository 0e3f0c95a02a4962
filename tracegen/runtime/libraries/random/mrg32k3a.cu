// MRG32k3a of the host interface.
#include "tracegen/runtime/libraries/random/streams.cuh"

namespace heddle::libraries {

curandStatus_t SeedMrg32k3a(curandGenerator_t generator) { return Seed<curandStateMRG32k3a>(generator); }

curandStatus_t GenerateMrg32k3a(curandGenerator_t generator, const Draw& draw) {
  return GenerateFromStreams<curandStateMRG32k3a>(generator, draw);
}

}  // namespace heddle::libraries
