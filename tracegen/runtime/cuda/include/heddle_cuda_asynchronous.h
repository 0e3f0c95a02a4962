// Asynchronous copies into shared memory and split barriers are not supported: the functions of cuda_pipeline.h and
// cuda_awbarrier.h are declared so that a launch of a kernel that uses them names construct and line.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_ASYNCHRONOUS_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_ASYNCHRONOUS_H_

#ifdef __CUDA__
extern "C" __device__ void __heddle_asynchronous_copy();
extern "C" __device__ unsigned long long __heddle_split_barrier();

// --- cuda_pipeline.h

static __forceinline__ __device__ void __pipeline_memcpy_async(void*, const void*, __SIZE_TYPE__, __SIZE_TYPE__ = 0) {
  __heddle_asynchronous_copy();
}
static __forceinline__ __device__ void __pipeline_commit() { __heddle_asynchronous_copy(); }
static __forceinline__ __device__ void __pipeline_wait_prior(__SIZE_TYPE__) { __heddle_asynchronous_copy(); }

// --- cuda_awbarrier.h

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;
static __forceinline__ __device__ unsigned int __mbarrier_maximum_count() { return (1u << 20) - 1; }
static __forceinline__ __device__ void __mbarrier_init(__mbarrier_t*, unsigned int) { __heddle_split_barrier(); }
static __forceinline__ __device__ void __mbarrier_inval(__mbarrier_t*) { __heddle_split_barrier(); }
static __forceinline__ __device__ __mbarrier_token_t __mbarrier_arrive(__mbarrier_t*) {
  return __heddle_split_barrier();
}
static __forceinline__ __device__ __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t*) {
  return __heddle_split_barrier();
}
static __forceinline__ __device__ bool __mbarrier_test_wait(__mbarrier_t*, __mbarrier_token_t) {
  return __heddle_split_barrier() != 0;
}
static __forceinline__ __device__ bool __mbarrier_test_wait_parity(__mbarrier_t*, bool) {
  return __heddle_split_barrier() != 0;
}
static __forceinline__ __device__ void __pipeline_arrive_on(__mbarrier_t*) { __heddle_split_barrier(); }
static __forceinline__ __device__ unsigned int __mbarrier_token_pending_count(__mbarrier_token_t) {
  return static_cast<unsigned int>(__heddle_split_barrier());
}
#endif  // __CUDA__

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_ASYNCHRONOUS_H_
