// Copies that the threads of a group make together, asynchronous where the device can: used by cooperative groups,
// cuda::barrier and cuda::pipeline.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUP_COPIES_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUP_COPIES_H_

#include "heddle_cuda_asynchronous.h"

namespace cuda {

template <__SIZE_TYPE__ kAlignment>
struct aligned_size_t {
  __SIZE_TYPE__ value;
  static constexpr __SIZE_TYPE__ align = kAlignment;
  __host__ __device__ explicit aligned_size_t(__SIZE_TYPE__ bytes) : value(bytes) {}
  __host__ __device__ operator __SIZE_TYPE__() const { return value; }
};

}  // namespace cuda

namespace heddle_asynchronous {

// The alignment that the type of the elements and that of the size promise.
template <typename Size>
struct PromisedBySize {
  static constexpr __SIZE_TYPE__ value = 1;
};
template <__SIZE_TYPE__ kAlignment>
struct PromisedBySize<cuda::aligned_size_t<kAlignment>> {
  static constexpr __SIZE_TYPE__ value = kAlignment;
};
template <typename T>
struct PromisedByType {
  static constexpr __SIZE_TYPE__ value = alignof(T);
};
template <>
struct PromisedByType<void> {
  static constexpr __SIZE_TYPE__ value = 1;
};
template <typename T, typename Size>
__host__ __device__ constexpr __SIZE_TYPE__ AlignmentOf() {
  return PromisedByType<T>::value > PromisedBySize<Size>::value ? PromisedByType<T>::value
                                                                : PromisedBySize<Size>::value;
}

// Each thread copies every n-th piece of so many bytes; returns how much has been copied.
template <__SIZE_TYPE__ kPiece, typename Group>
static __forceinline__ __device__ __SIZE_TYPE__ CopyPieces(const Group& group, char* to, const char* from,
                                                           __SIZE_TYPE__ bytes) {
  const __SIZE_TYPE__ step = kPiece * static_cast<__SIZE_TYPE__>(group.size());
  const __SIZE_TYPE__ whole = bytes / kPiece * kPiece;
  for (__SIZE_TYPE__ i = kPiece * static_cast<__SIZE_TYPE__>(group.thread_rank()); i < whole; i += step) {
    Copy(to + i, from + i, kPiece, kPiece);
  }
  return whole;
}

// Copies `bytes` bytes from global to shared memory, asynchronously but for a rest that has no whole pieces; between
// other places at once. Both pointers are multiples of kAlignment.
template <__SIZE_TYPE__ kAlignment, typename Group>
static __forceinline__ __device__ void CopyByGroup(const Group& group, void* destination, const void* source,
                                                   __SIZE_TYPE__ bytes) {
  char* to = static_cast<char*>(destination);
  const char* from = static_cast<const char*>(source);
  __SIZE_TYPE__ done = 0;
  if (__isShared(to) && __isGlobal(from)) {
    const __SIZE_TYPE__ both = reinterpret_cast<__SIZE_TYPE__>(to) | reinterpret_cast<__SIZE_TYPE__>(from);
    if (kAlignment >= 16 || both % 16 == 0) {
      done = CopyPieces<16>(group, to, from, bytes);
    } else if (kAlignment >= 8 || both % 8 == 0) {
      done = CopyPieces<8>(group, to, from, bytes);
    } else if (kAlignment >= 4 || both % 4 == 0) {
      done = CopyPieces<4>(group, to, from, bytes);
    }
  }
  for (__SIZE_TYPE__ i = done + group.thread_rank(); i < bytes; i += group.size()) to[i] = from[i];
}

}  // namespace heddle_asynchronous

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUP_COPIES_H_
