// Steps of conversions to types with few bits: what keeps a number from being rounded twice.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_NARROWING_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_NARROWING_H_

// The next float toward zero, and if it is not the number itself, the one of two neighbours whose last bit is set:
// further rounding to few bits does what rounding the number itself does.
static __forceinline__ __host__ __device__ float heddle_float_to_odd(double x) {
  const float near = static_cast<float>(x);
  if (near != near || static_cast<double>(near) == x) return near;
  const unsigned int bits = __builtin_bit_cast(unsigned int, near);
  const bool beyond = __builtin_fabs(static_cast<double>(near)) > __builtin_fabs(x);
  return __builtin_bit_cast(float, (beyond ? bits - 1 : bits) | 1);
}
// A double that is on the same side of every number of few bits.
static __forceinline__ __host__ __device__ double heddle_double_of_whole(unsigned long long x) {
  return static_cast<double>(x >> 53 == 0 ? x : (x & ~0xfffull) | ((x & 0xfff) != 0 ? 0x1000 : 0));
}
static __forceinline__ __host__ __device__ double heddle_double_of_whole(long long x) {
  const unsigned long long magnitude =
      x < 0 ? 0 - static_cast<unsigned long long>(x) : static_cast<unsigned long long>(x);
  return x < 0 ? -heddle_double_of_whole(magnitude) : heddle_double_of_whole(magnitude);
}
static __forceinline__ __host__ __device__ int heddle_clamp(int x, int low, int high) {
  return x < low ? low : x > high ? high : x;
}

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_NARROWING_H_
