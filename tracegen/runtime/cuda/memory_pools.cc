// Pools of device memory that stream-ordered allocations come from. Memory that is freed goes back to the device at
// once, whatever the pool's attributes say.
#include <cstddef>
#include <cstdint>
#include <set>

#include "tracegen/runtime/cuda/state.h"

struct CUmemPoolHandle_st {
  int reuse[3] = {1, 1, 1};  // by cudaMemPoolAttr
  uint64_t release_threshold = 0;
};

using heddle::cuda::Explain;
using heddle::cuda::Fail;
using heddle::cuda::Guard;

namespace {

CUmemPoolHandle_st* DefaultPool() {
  static auto& pool = *new CUmemPoolHandle_st;
  return &pool;
}

std::set<cudaMemPool_t>& CreatedPools() {
  static auto& pools = *new std::set<cudaMemPool_t>;
  return pools;
}

// The pool that cudaMallocAsync and its like take from.
cudaMemPool_t& CurrentPool() {
  static cudaMemPool_t pool = DefaultPool();
  return pool;
}

bool IsPool(cudaMemPool_t pool) { return pool == DefaultPool() || CreatedPools().contains(pool); }

// What can reach memory of a pool.
cudaError_t CheckLocation(const cudaMemLocation& location) {
  if (location.type != cudaMemLocationTypeDevice) return cudaErrorInvalidValue;
  return location.id == 0 ? cudaSuccess : cudaErrorInvalidDevice;
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

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  const Guard guard;
  if (pool == nullptr) return Fail(cudaErrorInvalidValue);
  if (device != 0) return Fail(cudaErrorInvalidDevice);
  *pool = CurrentPool();
  return cudaSuccess;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  const Guard guard;
  if (device != 0) return Fail(cudaErrorInvalidDevice);
  if (!IsPool(pool)) return Fail(cudaErrorInvalidValue);
  CurrentPool() = pool;
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const struct cudaMemPoolProps* properties) {
  const Guard guard;
  if (pool == nullptr || properties == nullptr || properties->allocType != cudaMemAllocationTypePinned) {
    return Fail(cudaErrorInvalidValue);
  }
  if (properties->handleTypes != cudaMemHandleTypeNone) {
    Explain("cudaMemPoolCreate", "sharing memory between processes is not supported; create the pool without handles");
    return Fail(cudaErrorNotSupported);
  }
  if (cudaError_t error = CheckLocation(properties->location); error != cudaSuccess) return Fail(error);
  *pool = *CreatedPools().insert(new CUmemPoolHandle_st).first;
  return cudaSuccess;
}

// Its allocations stay until they are freed.
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const Guard guard;
  if (CreatedPools().erase(pool) == 0) return Fail(cudaErrorInvalidValue);
  if (CurrentPool() == pool) CurrentPool() = DefaultPool();
  delete pool;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc* descriptions, size_t count) {
  const Guard guard;
  if (!IsPool(pool) || (descriptions == nullptr && count != 0)) return Fail(cudaErrorInvalidValue);
  for (size_t i = 0; i < count; ++i) {
    if (cudaError_t error = CheckLocation(descriptions[i].location); error != cudaSuccess) return Fail(error);
    // It is the device's own memory.
    if (descriptions[i].flags != cudaMemAccessFlagsProtReadWrite) return Fail(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags* flags, cudaMemPool_t pool, struct cudaMemLocation* location) {
  const Guard guard;
  if (flags == nullptr || location == nullptr || !IsPool(pool)) return Fail(cudaErrorInvalidValue);
  if (cudaError_t error = CheckLocation(*location); error != cudaSuccess) return Fail(error);
  *flags = cudaMemAccessFlagsProtReadWrite;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void* value) {
  const Guard guard;
  if (!IsPool(pool) || value == nullptr) return Fail(cudaErrorInvalidValue);
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
  if (!IsPool(pool) || value == nullptr) return Fail(cudaErrorInvalidValue);
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
  return IsPool(pool) ? cudaSuccess : Fail(cudaErrorInvalidValue);
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  if (!IsPool(pool)) return Fail(cudaErrorInvalidValue);
  return cudaMallocAsync(pointer, size, stream);
}

}  // extern "C"
