// The memory functions of the C library in device code, as nvcc has them without a header. Copies and fills are the
// compiler's own: loads and stores as wide as the alignment that is known allows, a loop where the size is known only
// when the kernel runs. std:: has them from <cstring>, whose using-declarations find these, too.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MEMORY_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MEMORY_H_

extern "C" {
inline __attribute__((always_inline)) __device__ void* memcpy(void* to, const void* from, __SIZE_TYPE__ bytes) {
  __builtin_memcpy(to, from, bytes);
  return to;
}
inline __attribute__((always_inline)) __device__ void* memmove(void* to, const void* from, __SIZE_TYPE__ bytes) {
  __builtin_memmove(to, from, bytes);
  return to;
}
inline __attribute__((always_inline)) __device__ void* memset(void* to, int byte, __SIZE_TYPE__ bytes) {
  __builtin_memset(to, byte, bytes);
  return to;
}
// Bytes one by one, up to the first that differs.
inline __device__ int memcmp(const void* first, const void* second, __SIZE_TYPE__ bytes) {
  const unsigned char* x = static_cast<const unsigned char*>(first);
  const unsigned char* y = static_cast<const unsigned char*>(second);
  for (__SIZE_TYPE__ i = 0; i < bytes; ++i) {
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  }
  return 0;
}
inline __device__ __SIZE_TYPE__ strlen(const char* text) {
  __SIZE_TYPE__ length = 0;
  while (text[length] != '\0') ++length;
  return length;
}
}

// Calls with typed pointers: what they point to is aligned as its type.
template <typename To, typename From>
inline __attribute__((always_inline)) __device__ void* memcpy(To* to, const From* from, __SIZE_TYPE__ bytes) {
  __builtin_memcpy(to, from, bytes);
  return to;
}
template <typename To, typename From>
inline __attribute__((always_inline)) __device__ void* memmove(To* to, const From* from, __SIZE_TYPE__ bytes) {
  __builtin_memmove(to, from, bytes);
  return to;
}
template <typename To>
inline __attribute__((always_inline)) __device__ void* memset(To* to, int byte, __SIZE_TYPE__ bytes) {
  __builtin_memset(to, byte, bytes);
  return to;
}

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_MEMORY_H_
