// cuRAND's host interface. The numbers are those of the vendor's library in its default ordering, but Poisson's, which
// have the same distribution.
#include "tracegen/runtime/libraries/random/generator.h"

#include <cstdio>
#include <new>

namespace {

using heddle::libraries::Distribution;
using heddle::libraries::Draw;

constexpr int kXorwowStreams = 4096, kMrgStreams = 81920, kLegacyStreams = 4096;

curandStatus_t Refuse(curandStatus_t status, const char* why) {
  std::fprintf(stderr, "heddle: cuRAND: %s\n", why);
  return status;
}

// Seed, offset or order have changed.
void Forget(curandGenerator_t generator) {
  generator->seeded = false;
  generator->next = 0;
}

curandStatus_t Create(curandGenerator_t* generator, curandRngType_t type, bool fills_host) {
  if (generator == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  *generator = nullptr;
  switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW:
      type = CURAND_RNG_PSEUDO_XORWOW;
      break;
    case CURAND_RNG_PSEUDO_MRG32K3A:
    case CURAND_RNG_PSEUDO_PHILOX4_32_10:
      break;
    case CURAND_RNG_PSEUDO_MTGP32:
      return Refuse(CURAND_STATUS_TYPE_ERROR, "the generator MTGP32 has no stand-in; use XORWOW, MRG32K3A or PHILOX");
    case CURAND_RNG_PSEUDO_MT19937:
      return Refuse(CURAND_STATUS_TYPE_ERROR, "the generator MT19937 has no stand-in; use XORWOW, MRG32K3A or PHILOX");
    default:
      return Refuse(CURAND_STATUS_TYPE_ERROR,
                    "quasi-random generators (Sobol) have no stand-in; use XORWOW, MRG32K3A or PHILOX");
  }
  auto* made = new (std::nothrow) curandGenerator_st;
  if (made == nullptr) return CURAND_STATUS_ALLOCATION_FAILED;
  made->type = type;
  made->fills_host = fills_host;
  made->streams = type == CURAND_RNG_PSEUDO_MRG32K3A ? kMrgStreams : kXorwowStreams;
  *generator = made;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t Generate(curandGenerator_t generator, const Draw& draw) {
  if (generator->type == CURAND_RNG_PSEUDO_MRG32K3A) return heddle::libraries::GenerateMrg32k3a(generator, draw);
  if (generator->type == CURAND_RNG_PSEUDO_PHILOX4_32_10) return heddle::libraries::GeneratePhilox(generator, draw);
  return heddle::libraries::GenerateXorwow(generator, draw);
}

curandStatus_t Run(const char* function, curandGenerator_t generator, Distribution distribution, bool is_double,
                   void* to, size_t count, double mean, double stddev) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (count == 0) return CURAND_STATUS_SUCCESS;
  if (to == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  const bool pairs = distribution == Distribution::kNormal || distribution == Distribution::kLogNormal;
  if (pairs && generator->type != CURAND_RNG_PSEUDO_PHILOX4_32_10 && count % 2 != 0) {
    return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  }
  if (distribution == Distribution::kPoisson && !(mean > 0)) return CURAND_STATUS_OUT_OF_RANGE;
  const heddle::libraries::StandIn stand_in(function);
  Draw draw;
  draw.distribution = distribution;
  draw.is_double = is_double;
  draw.to = to;
  draw.count = count;
  draw.mean = mean;
  draw.stddev = stddev;
  if (!generator->fills_host) return Generate(generator, draw);
  const size_t bytes = count * (is_double ? sizeof(double) : sizeof(float));
  if (cudaMalloc(&draw.to, bytes) != cudaSuccess) return CURAND_STATUS_ALLOCATION_FAILED;
  curandStatus_t status = Generate(generator, draw);
  if (status == CURAND_STATUS_SUCCESS && cudaMemcpy(to, draw.to, bytes, cudaMemcpyDeviceToHost) != cudaSuccess) {
    status = CURAND_STATUS_LAUNCH_FAILURE;
  }
  cudaFree(draw.to);
  return status;
}

}  // namespace

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t* generator, curandRngType_t type) {
  return Create(generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator, curandRngType_t type) {
  return Create(generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  cudaFree(generator->states);
  delete generator;
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGetVersion(int* version) {
  if (version == nullptr) return CURAND_STATUS_OUT_OF_RANGE;
  *version = CURAND_VERSION;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
  const int values[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
  *value = values[type];
  return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->stream = stream;
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->seed = seed;
  generator->offset = 0;
  Forget(generator);
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  generator->offset = offset;
  Forget(generator);
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  if (order == CURAND_ORDERING_PSEUDO_SEEDED) {
    return Refuse(CURAND_STATUS_OUT_OF_RANGE, "CURAND_ORDERING_PSEUDO_SEEDED has no stand-in; use another ordering");
  }
  if (order < CURAND_ORDERING_PSEUDO_BEST || order > CURAND_ORDERING_PSEUDO_DYNAMIC) return CURAND_STATUS_OUT_OF_RANGE;
  if (generator->type == CURAND_RNG_PSEUDO_MRG32K3A) {
    generator->streams = order == CURAND_ORDERING_PSEUDO_LEGACY ? kLegacyStreams : kMrgStreams;
    cudaFree(generator->states);
    generator->states = nullptr;
    Forget(generator);
  }
  return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
  if (generator == nullptr) return CURAND_STATUS_NOT_INITIALIZED;
  // Philox computes each number from its place. Without this call the first numbers seed the others.
  if (generator->seeded || generator->type == CURAND_RNG_PSEUDO_PHILOX4_32_10) return CURAND_STATUS_SUCCESS;
  const heddle::libraries::StandIn stand_in("curandGenerateSeeds");
  return generator->type == CURAND_RNG_PSEUDO_MRG32K3A ? heddle::libraries::SeedMrg32k3a(generator)
                                                       : heddle::libraries::SeedXorwow(generator);
}

curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int* to, size_t count) {
  return Run("curandGenerate", generator, Distribution::kBits, false, to, count, 0, 1);
}
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* to, size_t count) {
  return Run("curandGenerateUniform", generator, Distribution::kUniform, false, to, count, 0, 1);
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* to, size_t count) {
  return Run("curandGenerateUniformDouble", generator, Distribution::kUniform, true, to, count, 0, 1);
}
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* to, size_t count, float mean, float stddev) {
  return Run("curandGenerateNormal", generator, Distribution::kNormal, false, to, count, mean, stddev);
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* to, size_t count, double mean,
                                          double stddev) {
  return Run("curandGenerateNormalDouble", generator, Distribution::kNormal, true, to, count, mean, stddev);
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* to, size_t count, float mean, float stddev) {
  return Run("curandGenerateLogNormal", generator, Distribution::kLogNormal, false, to, count, mean, stddev);
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double* to, size_t count, double mean,
                                             double stddev) {
  return Run("curandGenerateLogNormalDouble", generator, Distribution::kLogNormal, true, to, count, mean, stddev);
}
curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int* to, size_t count, double lambda) {
  return Run("curandGeneratePoisson", generator, Distribution::kPoisson, false, to, count, lambda, 1);
}

}  // extern "C"
