// Philox of the host interface: groups of four numbers, each from the next of 65536 sequences. Four numbers of double
// precision take two counters.
#include "tracegen/runtime/libraries/random/streams.cuh"

namespace heddle::libraries {
namespace {

constexpr unsigned long long kSequences = 65536;

constexpr int kGroup = 4;

struct BitsOf {
  using Type = unsigned int;
  static constexpr int kWords = 4;  // of 32 bits that a group takes
  __device__ void operator()(curandStatePhilox4_32_10* state, Type* to) const {
    const uint4 x = curand4(state);
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
    to[3] = x.w;
  }
};
struct UniformOf {
  using Type = float;
  static constexpr int kWords = 4;
  __device__ void operator()(curandStatePhilox4_32_10* state, Type* to) const {
    const float4 x = curand_uniform4(state);
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
    to[3] = x.w;
  }
};
struct UniformDoubleOf {
  using Type = double;
  static constexpr int kWords = 8;
  __device__ void operator()(curandStatePhilox4_32_10* state, Type* to) const {
    const double4 x = curand_uniform4_double(state);
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
    to[3] = x.w;
  }
};
struct NormalOf {
  using Type = float;
  static constexpr int kWords = 4;
  float mean, stddev;
  bool exponential;
  __device__ void operator()(curandStatePhilox4_32_10* state, Type* to) const {
    const float4 x = curand_normal4(state);
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
    to[3] = x.w;
    for (int i = 0; i < 4; ++i) to[i] = mean + stddev * to[i];
    for (int i = 0; exponential && i < 4; ++i) to[i] = expf(to[i]);
  }
};

struct NormalDoubleOf {
  using Type = double;
  static constexpr int kWords = 8;
  NormalDouble pair;
  __device__ void operator()(curandStatePhilox4_32_10* state, Type* to) const {
    pair(state, to);
    pair(state, to + NormalDouble::kGroup);
  }
};

// A thread per group. The first one begins `before` numbers before what is wanted.
template <typename Make>
__global__ void FillFours(unsigned long long seed, unsigned long long first, int before, Make make,
                          typename Make::Type* to, size_t count) {
  const size_t group = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const size_t start = group * kGroup;
  if (start >= count + before) return;
  const unsigned long long number = first + group;
  curandStatePhilox4_32_10 state;
  curand_init(seed, number % kSequences, number / kSequences * Make::kWords, &state);
  typename Make::Type made[kGroup];
  make(&state, made);
  for (int i = 0; i < kGroup; ++i) {
    if (start + i >= before && start + i < count + before) to[start + i - before] = made[i];
  }
}

// A thread per number, each with a sequence of its own behind those of the other distributions.
__global__ void FillPoisson(unsigned long long seed, unsigned long long first, double lambda, unsigned int* to,
                            size_t count) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= count) return;
  curandStatePhilox4_32_10 state;
  curand_init(seed, kSequences + first + i, 0, &state);
  to[i] = curand_poisson(&state, lambda);
}

// `whole`: the first group is not cut, but the next that nothing has been handed out of.
template <typename Make>
void LaunchFours(curandGenerator_t generator, const Draw& draw, bool whole, const Make& make) {
  constexpr int kWords = Make::kWords;
  if (whole) generator->offset = (generator->offset + kWords - 1) / kWords * kWords;
  const auto before = static_cast<int>(generator->offset % kWords);
  const size_t groups = (draw.count + before + kGroup - 1) / kGroup;
  FillFours<<<BlocksFor(groups), kThreads, 0, generator->stream>>>(generator->seed, generator->offset / kWords, before,
                                                                   make, static_cast<typename Make::Type*>(draw.to),
                                                                   draw.count);
  generator->offset += draw.count * (kWords / kGroup);
}

}  // namespace

curandStatus_t GeneratePhilox(curandGenerator_t generator, const Draw& draw) {
  const bool exponential = draw.distribution == Distribution::kLogNormal;
  switch (draw.distribution) {
    case Distribution::kBits:
      LaunchFours(generator, draw, false, BitsOf());
      break;
    case Distribution::kUniform:
      if (draw.is_double) {
        LaunchFours(generator, draw, true, UniformDoubleOf());
      } else {
        LaunchFours(generator, draw, false, UniformOf());
      }
      break;
    case Distribution::kNormal:
    case Distribution::kLogNormal:
      if (draw.is_double) {
        LaunchFours(generator, draw, true, NormalDoubleOf{{draw.mean, draw.stddev, exponential}});
      } else {
        LaunchFours(generator, draw, true,
                    NormalOf{static_cast<float>(draw.mean), static_cast<float>(draw.stddev), exponential});
      }
      break;
    case Distribution::kPoisson:
      FillPoisson<<<BlocksFor(draw.count), kThreads, 0, generator->stream>>>(
          generator->seed, generator->offset, draw.mean, static_cast<unsigned int*>(draw.to), draw.count);
      generator->offset += draw.count;
      break;
  }
  return cudaGetLastError() == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE;
}

}  // namespace heddle::libraries
