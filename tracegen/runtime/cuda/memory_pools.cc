// The pool of device memory that stream-ordered allocations come from: one, as there is one device. Memory that is
// freed goes back to the device at once, whatever the pool's attributes say.
#include <cstddef>
#include <cstdint>

#include "tracegen/runtime/cuda/state.h"

struct CUmemPoolHandle_st {
  int reuse[3] = {1, 1, 1};  // by cudaMemPoolAttr
  uint64_t release_threshold = 0;
};

using heddle::cuda::Fail;
using heddle::cuda::Guard;

namespace {

CUmemPoolHandle_st* DefaultPool() {
  static auto& pool = *new CUmemPoolHandle_st;
  return &pool;
}

bool IsReuse(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (pool == nullptr) return Fail(cudaErrorInvalidValue);
  if (device != 0) return Fail(cudaErrorInvalidDevice);
  *pool = DefaultPool();
  return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) { return cudaDeviceGetDefaultMemPool(pool, device); }

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (device != 0) return Fail(cudaErrorInvalidDevice);
  return pool == DefaultPool() ? cudaSuccess : Fail(cudaErrorInvalidValue);
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value) {
  const Guard guard;
  if (pool != DefaultPool() || value == nullptr) return Fail(cudaErrorInvalidValue);
  if (IsReuse(attribute)) {
    pool->reuse[attribute - 1] = *static_cast<const int*>(value);
  } else if (attribute == cudaMemPoolAttrReleaseThreshold) {
    pool->release_threshold = *static_cast<const uint64_t*>(value);
  } else {
    return Fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value) {
  const Guard guard;
  if (pool != DefaultPool() || value == nullptr) return Fail(cudaErrorInvalidValue);
  if (IsReuse(attribute)) {
    *static_cast<int*>(value) = pool->reuse[attribute - 1];
  } else if (attribute == cudaMemPoolAttrReleaseThreshold) {
    *static_cast<uint64_t*>(value) = pool->release_threshold;
  } else {
    return Fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return pool == DefaultPool() ? cudaSuccess : Fail(cudaErrorInvalidValue);
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  if (pool != DefaultPool()) return Fail(cudaErrorInvalidValue);
  return cudaMallocAsync(pointer, size, stream);
}

}  // extern "C"
