// Functions of cooperative groups: reductions and scans (cooperative_groups/reduce.h, scan.h), calls by one thread, and
// copies into shared memory. Included by heddle_cuda_groups.h.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUP_FUNCTIONS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUP_FUNCTIONS_H_

#include "heddle_cuda_asynchronous.h"
#include "heddle_cuda_group_copies.h"

namespace cooperative_groups {

#define HEDDLE_OPERATOR(name, result)                                                        \
  template <typename T = int>                                                                \
  struct name {                                                                              \
    __forceinline__ __device__ T operator()(const T& a, const T& b) const { return result; } \
  };
HEDDLE_OPERATOR(plus, a + b)
HEDDLE_OPERATOR(less, b < a ? b : a)
HEDDLE_OPERATOR(greater, a < b ? b : a)
HEDDLE_OPERATOR(bit_and, a& b)
HEDDLE_OPERATOR(bit_or, a | b)
HEDDLE_OPERATOR(bit_xor, a ^ b)
#undef HEDDLE_OPERATOR

// Reductions that a device has an instruction for (redux.sync, compute capability 8.0): those of 32-bit integers.
namespace heddle {
template <typename T, typename Operation>
struct IsOneInstruction {
  static constexpr bool value = false;
  static __forceinline__ __device__ T Reduce(unsigned int, T own) { return own; }
};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define HEDDLE_REDUCTION(type, operation, function)                               \
  template <>                                                                     \
  struct IsOneInstruction<type, operation<type>> {                                \
    static constexpr bool value = true;                                           \
    static __forceinline__ __device__ type Reduce(unsigned int lanes, type own) { \
      return static_cast<type>(function(lanes, own));                             \
    }                                                                             \
  };
HEDDLE_REDUCTION(int, plus, __reduce_add_sync)
HEDDLE_REDUCTION(int, less, __reduce_min_sync)
HEDDLE_REDUCTION(int, greater, __reduce_max_sync)
HEDDLE_REDUCTION(int, bit_and, __reduce_and_sync)
HEDDLE_REDUCTION(int, bit_or, __reduce_or_sync)
HEDDLE_REDUCTION(int, bit_xor, __reduce_xor_sync)
HEDDLE_REDUCTION(unsigned int, plus, __reduce_add_sync)
HEDDLE_REDUCTION(unsigned int, less, __reduce_min_sync)
HEDDLE_REDUCTION(unsigned int, greater, __reduce_max_sync)
HEDDLE_REDUCTION(unsigned int, bit_and, __reduce_and_sync)
HEDDLE_REDUCTION(unsigned int, bit_or, __reduce_or_sync)
HEDDLE_REDUCTION(unsigned int, bit_xor, __reduce_xor_sync)
#undef HEDDLE_REDUCTION
#endif
}  // namespace heddle

}  // namespace cooperative_groups

#include "cooperative_groups/heddle_warps.h"

namespace cooperative_groups {

// Every thread of the group gets the result. `operation` is associative and commutative, and takes and returns values
// of the same type (of any type that shuffles move).
template <unsigned int kSize, typename Parent, typename T, typename Operation>
HEDDLE_DEVICE T reduce(const thread_block_tile<kSize, Parent>& group, T value, Operation operation) {
  if constexpr (kSize > 32) {
    return group.OverWarps(reduce(thread_block_tile<32>(), value, operation), operation);
  } else if constexpr (heddle::IsOneInstruction<T, Operation>::value) {
    return heddle::IsOneInstruction<T, Operation>::Reduce(group.heddle_lanes(), value);
  } else {
    for (unsigned int step = kSize / 2; step > 0; step /= 2) value = operation(value, group.shfl_xor(value, step));
    return value;
  }
}
template <typename T, typename Operation>
HEDDLE_DEVICE T reduce(const coalesced_group& group, T value, Operation operation) {
  if constexpr (heddle::IsOneInstruction<T, Operation>::value) {
    return heddle::IsOneInstruction<T, Operation>::Reduce(group.heddle_lanes(), value);
  }
  const unsigned int rank = group.thread_rank(), size = group.size();
  for (unsigned int step = 1; step < size; step *= 2) {
    const T other = group.shfl_down(value, step);
    if (rank + step < size) value = operation(value, other);
  }
  return group.shfl(value, 0);
}
template <typename Group, typename T, typename Operation>
HEDDLE_DEVICE T inclusive_scan(const Group& group, T value, Operation operation) {
  const unsigned int rank = group.thread_rank();
  for (unsigned int step = 1; step < group.size(); step *= 2) {
    const T other = group.shfl_up(value, step);
    if (rank >= step) value = operation(other, value);
  }
  return value;
}
template <typename Group, typename T>
HEDDLE_DEVICE T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
// What the first thread gets is T(); with `operation` only a sum's neutral element is known.
template <typename Group, typename T, typename Operation>
HEDDLE_DEVICE T exclusive_scan(const Group& group, T value, Operation operation) {
  const T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <typename Group, typename T>
HEDDLE_DEVICE T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

// A call by one thread of the group, with the result for all or for nobody.
template <typename Group, typename Function, typename... Arguments>
HEDDLE_DEVICE void invoke_one(const Group& group, Function function, Arguments... arguments) {
  if (group.thread_rank() == 0) function(arguments...);
}
template <typename Group, typename Function, typename... Arguments>
HEDDLE_DEVICE auto invoke_one_broadcast(const Group& group, Function function, Arguments... arguments)
    -> decltype(function(arguments...)) {
  decltype(function(arguments...)) result{};
  if (group.thread_rank() == 0) result = function(arguments...);
  return group.shfl(result, 0);
}

// --- copies into shared memory (cooperative_groups/memcpy_async.h)

// A number of bytes, or one whose alignment is promised.
template <typename Group, typename T, typename Size>
HEDDLE_DEVICE void memcpy_async(const Group& group, T* to, const T* from, const Size& bytes) {
  heddle_asynchronous::CopyByGroup<heddle_asynchronous::AlignmentOf<T, Size>()>(group, to, from,
                                                                                static_cast<__SIZE_TYPE__>(bytes));
  heddle_asynchronous::Commit();
}
// As many elements as both sides have.
template <typename Group, typename T, typename ToSize, typename FromSize>
HEDDLE_DEVICE void memcpy_async(const Group& group, T* to, const ToSize& to_count, const T* from,
                                const FromSize& from_count) {
  const __SIZE_TYPE__ a = static_cast<__SIZE_TYPE__>(to_count), b = static_cast<__SIZE_TYPE__>(from_count);
  memcpy_async(group, to, from, (a < b ? a : b) * sizeof(T));
}
template <typename Group>
HEDDLE_DEVICE void wait(const Group& group) {
  heddle_asynchronous::WaitPrior<0>();
  group.sync();
}
// Until all but the last `kStages` copies are complete.
template <unsigned int kStages, typename Group>
HEDDLE_DEVICE void wait_prior(const Group& group) {
  heddle_asynchronous::WaitPrior<kStages>();
  group.sync();
}

}  // namespace cooperative_groups

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUP_FUNCTIONS_H_
