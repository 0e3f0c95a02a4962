// A generator of cuRAND's host interface. XORWOW and MRG32k3a have a number of streams, which are parts of their
// sequences far from one another; what is generated goes to one stream after the other. Philox computes each number
// from its place.
#ifndef HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_RANDOM_GENERATOR_H_
#define HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_RANDOM_GENERATOR_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "curand.h"
#include "tracegen/runtime/libraries/stand_in.h"

struct curandGenerator_st {
  curandRngType_t type = CURAND_RNG_PSEUDO_XORWOW;
  bool fills_host = false;
  cudaStream_t stream = nullptr;
  unsigned long long seed = 0;
  unsigned long long offset = 0;  // numbers of 32 bits that are skipped; Philox: and that have been handed out
  int streams = 4096;             // of XORWOW and MRG32k3a
  bool seeded = false;
  void* states = nullptr;  // on the device, one a stream, once seeded
  int next = 0;            // the stream whose turn it is
};

namespace heddle::libraries {

enum class Distribution { kBits, kUniform, kNormal, kLogNormal, kPoisson };

// What is wanted: `count` numbers of type unsigned int (kBits, kPoisson), float, or double, in device memory.
struct Draw {
  Distribution distribution = Distribution::kBits;
  bool is_double = false;
  void* to = nullptr;
  size_t count = 0;
  double mean = 0, stddev = 1;  // Poisson: the mean is lambda
};

// Make the states of all streams, in the generator's stream. Not while it is captured: they need memory.
curandStatus_t SeedXorwow(curandGenerator_t generator);
curandStatus_t SeedMrg32k3a(curandGenerator_t generator);

// Launch the kernels, in the generator's stream.
curandStatus_t GenerateXorwow(curandGenerator_t generator, const Draw& draw);
curandStatus_t GenerateMrg32k3a(curandGenerator_t generator, const Draw& draw);
curandStatus_t GeneratePhilox(curandGenerator_t generator, const Draw& draw);

}  // namespace heddle::libraries

#endif  // HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_RANDOM_GENERATOR_H_
