// The kernels of generators with streams, XORWOW and MRG32k3a.
#ifndef HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_RANDOM_STREAMS_CUH_
#define HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_RANDOM_STREAMS_CUH_

#include <curand_kernel.h>

#include <algorithm>
#include <cstdint>

#include "tracegen/runtime/libraries/random/generator.h"

namespace heddle::libraries {

constexpr int kThreads = 256;

// From one stream to a later one.
__device__ inline void SkipStreams(unsigned long long n, curandStateXORWOW* state) { skipahead_sequence(n, state); }
__device__ inline void SkipStreams(unsigned long long n, curandStateMRG32k3a* state) {
  skipahead_subsequence(n, state);
}

// The first stream, which has handed out `position` numbers.
template <typename State>
__global__ void SeedFirst(State* states, unsigned long long seed, unsigned long long position) {
  curand_init(seed, 0, position, &states[0]);
}
// Streams `made` to `end` from as many before them: each takes one skip.
template <typename State>
__global__ void SeedMore(State* states, int made, int end) {
  const int stream = made + blockIdx.x * blockDim.x + threadIdx.x;
  if (stream >= end) return;
  State state = states[stream - made];
  SkipStreams(made, &state);
  states[stream] = state;
}
// The first `count` streams have handed out one number more.
template <typename State>
__global__ void SkipOne(State* states, int count) {
  const int stream = blockIdx.x * blockDim.x + threadIdx.x;
  if (stream < count) curand(&states[stream]);
}

// What a stream hands out at once.
struct Bits {
  using Type = unsigned int;
  static constexpr int kGroup = 1;
  template <typename State>
  __device__ void operator()(State* state, Type* to) const {
    *to = curand(state);
  }
};
struct UniformFloat {
  using Type = float;
  static constexpr int kGroup = 1;
  template <typename State>
  __device__ void operator()(State* state, Type* to) const {
    *to = curand_uniform(state);
  }
};
struct UniformDouble {
  using Type = double;
  static constexpr int kGroup = 1;
  template <typename State>
  __device__ void operator()(State* state, Type* to) const {
    *to = curand_uniform_double(state);
  }
};
struct NormalFloat {
  using Type = float;
  static constexpr int kGroup = 2;
  float mean, stddev;
  bool exponential;
  template <typename State>
  __device__ void operator()(State* state, Type* to) const {
    const float2 pair = curand_normal2(state);
    to[0] = mean + stddev * pair.x;
    to[1] = mean + stddev * pair.y;
    for (int i = 0; exponential && i < 2; ++i) to[i] = expf(to[i]);
  }
};
struct NormalDouble {
  using Type = double;
  static constexpr int kGroup = 2;
  double mean, stddev;
  bool exponential;
  template <typename State>
  __device__ void operator()(State* state, Type* to) const {
    const double2 pair = curand_normal2_double(state);
    to[0] = mean + stddev * pair.x;
    to[1] = mean + stddev * pair.y;
    for (int i = 0; exponential && i < 2; ++i) to[i] = exp(to[i]);
  }
};
struct PoissonNumber {
  using Type = unsigned int;
  static constexpr int kGroup = 1;
  double lambda;
  template <typename State>
  __device__ void operator()(State* state, Type* to) const {
    *to = curand_poisson(state, lambda);
  }
};

// A thread per stream, which hands out every `streams`th group.
template <typename State, typename Make>
__global__ void Fill(State* states, int streams, int next, Make make, typename Make::Type* to, size_t groups) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (thread >= streams || thread >= groups) return;
  const int stream = static_cast<int>((static_cast<int64_t>(next) + thread) % streams);
  State state = states[stream];
  for (size_t group = thread; group < groups; group += streams) {
    typename Make::Type made[Make::kGroup];
    make(&state, made);
    for (int i = 0; i < Make::kGroup; ++i) to[group * Make::kGroup + i] = made[i];
  }
  states[stream] = state;
}

inline unsigned BlocksFor(size_t threads) { return static_cast<unsigned>((threads + kThreads - 1) / kThreads); }

template <typename State>
curandStatus_t Seed(curandGenerator_t generator) {
  if (generator->states == nullptr &&
      cudaMalloc(&generator->states, generator->streams * sizeof(State)) != cudaSuccess) {
    return CURAND_STATUS_ALLOCATION_FAILED;
  }
  auto* states = static_cast<State*>(generator->states);
  const int streams = generator->streams;
  SeedFirst<<<1, 1, 0, generator->stream>>>(states, generator->seed, generator->offset / streams);
  for (int made = 1; made < streams; made *= 2) {
    const int end = std::min(2 * made, streams);
    SeedMore<<<BlocksFor(end - made), kThreads, 0, generator->stream>>>(states, made, end);
  }
  generator->next = static_cast<int>(generator->offset % streams);
  if (generator->next != 0) {
    SkipOne<<<BlocksFor(generator->next), kThreads, 0, generator->stream>>>(states, generator->next);
  }
  generator->seeded = true;
  return CURAND_STATUS_SUCCESS;
}

template <typename State, typename Make>
curandStatus_t FillFromStreams(curandGenerator_t generator, const Draw& draw, const Make& make) {
  if (!generator->seeded) {
    if (const curandStatus_t status = Seed<State>(generator); status != CURAND_STATUS_SUCCESS) return status;
  }
  const int streams = generator->streams;
  const size_t groups = draw.count / Make::kGroup;
  Fill<<<BlocksFor(std::min<size_t>(streams, groups)), kThreads, 0, generator->stream>>>(
      static_cast<State*>(generator->states), streams, generator->next, make,
      static_cast<typename Make::Type*>(draw.to), groups);
  generator->next = static_cast<int>((generator->next + groups) % streams);
  return cudaGetLastError() == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

template <typename State>
curandStatus_t GenerateFromStreams(curandGenerator_t generator, const Draw& draw) {
  const bool exponential = draw.distribution == Distribution::kLogNormal;
  switch (draw.distribution) {
    case Distribution::kBits:
      return FillFromStreams<State>(generator, draw, Bits());
    case Distribution::kUniform:
      return draw.is_double ? FillFromStreams<State>(generator, draw, UniformDouble())
                            : FillFromStreams<State>(generator, draw, UniformFloat());
    case Distribution::kNormal:
    case Distribution::kLogNormal: {
      const auto mean = static_cast<float>(draw.mean), stddev = static_cast<float>(draw.stddev);
      return draw.is_double ? FillFromStreams<State>(generator, draw, NormalDouble{draw.mean, draw.stddev, exponential})
                            : FillFromStreams<State>(generator, draw, NormalFloat{mean, stddev, exponential});
    }
    case Distribution::kPoisson:
      return FillFromStreams<State>(generator, draw, PoissonNumber{draw.mean});
  }
  return CURAND_STATUS_INTERNAL_ERROR;
}

}  // namespace heddle::libraries

#endif  // HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_RANDOM_STREAMS_CUH_
