// Functions of cooperative groups: reductions and scans (cooperative_groups/reduce.h, scan.h), calls by one thread, and
// copies into shared memory. Included by heddle_cuda_groups.h.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUP_FUNCTIONS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUP_FUNCTIONS_H_

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

// Every thread of the group gets the result. `operation` is associative and commutative, and takes and returns values
// of the same type (of any type that shuffles move).
template <unsigned int kSize, typename Parent, typename T, typename Operation>
HEDDLE_DEVICE T reduce(const thread_block_tile<kSize, Parent>& group, T value, Operation operation) {
  for (unsigned int step = kSize / 2; step > 0; step /= 2) value = operation(value, group.shfl_xor(value, step));
  return value;
}
template <typename T, typename Operation>
HEDDLE_DEVICE T reduce(const coalesced_group& group, T value, Operation operation) {
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

// --- copies into shared memory (cooperative_groups/memcpy_async.h): complete at once

// A number of bytes, or one whose alignment is promised.
template <typename Group, typename T, typename Size>
HEDDLE_DEVICE void memcpy_async(const Group& group, T* to, const T* from, const Size& bytes) {
  const unsigned long count = static_cast<unsigned long>(bytes) / sizeof(T);
  for (unsigned long i = group.thread_rank(); i < count; i += group.size()) to[i] = from[i];
}
// As many elements as both sides have.
template <typename Group, typename T, typename ToSize, typename FromSize>
HEDDLE_DEVICE void memcpy_async(const Group& group, T* to, const ToSize& to_count, const T* from,
                                const FromSize& from_count) {
  const unsigned long a = static_cast<unsigned long>(to_count), b = static_cast<unsigned long>(from_count);
  for (unsigned long i = group.thread_rank(); i < (a < b ? a : b); i += group.size()) to[i] = from[i];
}
template <typename Group>
HEDDLE_DEVICE void wait(const Group& group) {
  group.sync();
}
// Until all but the last `kStages` copies are complete.
template <unsigned int kStages, typename Group>
HEDDLE_DEVICE void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups

namespace cuda {

template <__SIZE_TYPE__ kAlignment>
struct aligned_size_t {
  __SIZE_TYPE__ value;
  static constexpr __SIZE_TYPE__ align = kAlignment;
  __host__ __device__ explicit aligned_size_t(__SIZE_TYPE__ bytes) : value(bytes) {}
  __host__ __device__ operator __SIZE_TYPE__() const { return value; }
};

}  // namespace cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_GROUP_FUNCTIONS_H_
