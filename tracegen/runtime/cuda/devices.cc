// Devices of the API: there is one.
#include <cstdio>
#include <cstring>

#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/device_model.h"
#include "tracegen/runtime/cuda/memory.h"
#include "tracegen/runtime/cuda/state.h"
#include "tracegen/runtime/cuda/timeline.h"
#include "tracegen/runtime/cuda/work.h"

namespace heddle::cuda {
namespace {

constexpr char kBusId[] = "0000:00:04.0";

unsigned int device_flags = cudaDeviceScheduleAuto;
cudaFuncCache cache_config = cudaFuncCachePreferNone;
cudaSharedMemConfig bank_config = cudaSharedMemBankSizeFourByte;
size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};

cudaError_t CheckDevice(int device) { return device == 0 ? cudaSuccess : Fail(cudaErrorInvalidDevice); }

void FillLimits(const DeviceModel& model, cudaDeviceProp* p) {
  p->sharedMemPerBlock = kSharedPerBlock;
  p->regsPerBlock = kRegisters;
  p->warpSize = kWarpSize;
  p->memPitch = 2147483647;
  p->maxThreadsPerBlock = kMaxThreadsPerBlock;
  const int block[3] = {1024, 1024, 64};
  const int grid[3] = {2147483647, 65535, 65535};
  std::memcpy(p->maxThreadsDim, block, sizeof(block));
  std::memcpy(p->maxGridSize, grid, sizeof(grid));
  p->totalConstMem = 64 << 10;
  p->textureAlignment = kTextureAlignment;
  p->texturePitchAlignment = 32;
  p->surfaceAlignment = kTextureAlignment;
  p->maxThreadsPerMultiProcessor = model.threads_per_multiprocessor;
  p->maxBlocksPerMultiProcessor = model.blocks_per_multiprocessor;
  p->sharedMemPerMultiprocessor = model.shared_per_multiprocessor;
  p->sharedMemPerBlockOptin = model.shared_per_block_on_request;
  p->regsPerMultiprocessor = kRegisters;
}

void FillTextures(cudaDeviceProp* p) {
  p->maxTexture1D = 131072;
  p->maxTexture1DMipmap = 32768;
  p->maxTexture1DLinear = 134217728;
  const int flat[3] = {131072, 65536, 2097120};
  std::memcpy(p->maxTexture2D, flat, sizeof(p->maxTexture2D));
  std::memcpy(p->maxTexture2DLinear, flat, sizeof(p->maxTexture2DLinear));
  p->maxTexture2DLinear[1] = 65000;
  p->maxTexture2DMipmap[0] = p->maxTexture2DMipmap[1] = 32768;
  p->maxTexture2DGather[0] = p->maxTexture2DGather[1] = 32768;
  for (int& size : p->maxTexture3D) size = 16384;
  p->maxTextureCubemap = 32768;
  p->maxTexture1DLayered[0] = p->maxTexture2DLayered[0] = p->maxTexture2DLayered[1] = 32768;
  p->maxTexture1DLayered[1] = p->maxTexture2DLayered[2] = 2048;
  p->maxSurface1D = 32768;
  p->maxSurface2D[0] = 131072;
  p->maxSurface2D[1] = 65536;
  for (int& size : p->maxSurface3D) size = 16384;
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::CheckDevice;
using heddle::cuda::ChosenDevice;
using heddle::cuda::ContextError;
using heddle::cuda::DeviceModel;
using heddle::cuda::Fail;
using heddle::cuda::Guard;
using heddle::cuda::Timeline;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return Fail(cudaErrorInvalidValue);
  *count = 1;
  return heddle::device::DeviceClient::CheckProcess().ok() ? cudaSuccess : Fail(cudaErrorInitializationError);
}

cudaError_t cudaSetDevice(int device) {
  if (cudaError_t error = ContextError("cudaSetDevice"); error != cudaSuccess) return error;
  return CheckDevice(device);
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return Fail(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  for (int i = 0; i < count; ++i) {
    if (devices[i] != 0) return Fail(cudaErrorInvalidDevice);
  }
  return cudaSuccess;
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return cudaGetDevice(device); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  const Guard guard;
  if (p == nullptr) return Fail(cudaErrorInvalidValue);
  if (cudaError_t error = CheckDevice(device); error != cudaSuccess) return error;
  heddle::device::DeviceLimits limits;
  if (auto result = heddle::device::DeviceClient::Get().Limits(&limits); !result.ok()) {
    return Fail("cudaGetDeviceProperties", result);
  }
  const DeviceModel& model = ChosenDevice();
  std::memset(p, 0, sizeof(*p));
  std::snprintf(p->name, sizeof(p->name), "%s", model.name);
  std::memcpy(p->uuid.bytes, "heddle-device-0", 16);
  p->totalGlobalMem = limits.total_bytes;
  p->clockRate = model.clock_khz;
  p->major = model.capability / 10;
  p->minor = model.capability % 10;
  heddle::cuda::FillLimits(model, p);
  heddle::cuda::FillTextures(p);
  // One engine for copies, and no host memory that kernels could reach without being asked to: as most cards.
  p->deviceOverlap = 1;
  p->asyncEngineCount = 2;
  p->multiProcessorCount = model.multiprocessors;
  p->canMapHostMemory = 1;
  p->concurrentKernels = 1;
  p->pciDeviceID = 4;
  p->unifiedAddressing = 1;
  p->memoryClockRate = model.memory_clock_khz;
  p->memoryBusWidth = model.memory_bus_bits;
  p->l2CacheSize = model.l2_bytes;
  p->streamPrioritiesSupported = 1;
  p->globalL1CacheSupported = 1;
  p->localL1CacheSupported = 1;
  p->managedMemory = 1;
  p->singleToDoublePrecisionPerfRatio = model.single_to_double_ratio;
  p->concurrentManagedAccess = model.capability >= 60 ? 1 : 0;
  p->computePreemptionSupported = model.capability >= 60 ? 1 : 0;
  p->cooperativeLaunch = model.capability >= 60 ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attribute, int device) {
  if (value == nullptr) return Fail(cudaErrorInvalidValue);
  cudaDeviceProp p;
  if (cudaError_t error = cudaGetDeviceProperties(&p, device); error != cudaSuccess) return error;
  switch (attribute) {
#define HEDDLE_ATTRIBUTE(name, member)   \
  case name:                             \
    *value = static_cast<int>(p.member); \
    return cudaSuccess;
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxThreadsPerBlock, maxThreadsPerBlock)
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxBlockDimX, maxThreadsDim[0])
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxBlockDimY, maxThreadsDim[1])
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxBlockDimZ, maxThreadsDim[2])
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxGridDimX, maxGridSize[0])
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxGridDimY, maxGridSize[1])
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxGridDimZ, maxGridSize[2])
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlock, sharedMemPerBlock)
    HEDDLE_ATTRIBUTE(cudaDevAttrTotalConstantMemory, totalConstMem)
    HEDDLE_ATTRIBUTE(cudaDevAttrWarpSize, warpSize)
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxPitch, memPitch)
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxRegistersPerBlock, regsPerBlock)
    HEDDLE_ATTRIBUTE(cudaDevAttrClockRate, clockRate)
    HEDDLE_ATTRIBUTE(cudaDevAttrTextureAlignment, textureAlignment)
    HEDDLE_ATTRIBUTE(cudaDevAttrGpuOverlap, deviceOverlap)
    HEDDLE_ATTRIBUTE(cudaDevAttrMultiProcessorCount, multiProcessorCount)
    HEDDLE_ATTRIBUTE(cudaDevAttrKernelExecTimeout, kernelExecTimeoutEnabled)
    HEDDLE_ATTRIBUTE(cudaDevAttrIntegrated, integrated)
    HEDDLE_ATTRIBUTE(cudaDevAttrCanMapHostMemory, canMapHostMemory)
    HEDDLE_ATTRIBUTE(cudaDevAttrComputeMode, computeMode)
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxTexture1DWidth, maxTexture1D)
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxTexture2DWidth, maxTexture2D[0])
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxTexture2DHeight, maxTexture2D[1])
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxTexture3DWidth, maxTexture3D[0])
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxTexture3DHeight, maxTexture3D[1])
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxTexture3DDepth, maxTexture3D[2])
    HEDDLE_ATTRIBUTE(cudaDevAttrSurfaceAlignment, surfaceAlignment)
    HEDDLE_ATTRIBUTE(cudaDevAttrConcurrentKernels, concurrentKernels)
    HEDDLE_ATTRIBUTE(cudaDevAttrEccEnabled, ECCEnabled)
    HEDDLE_ATTRIBUTE(cudaDevAttrPciBusId, pciBusID)
    HEDDLE_ATTRIBUTE(cudaDevAttrPciDeviceId, pciDeviceID)
    HEDDLE_ATTRIBUTE(cudaDevAttrTccDriver, tccDriver)
    HEDDLE_ATTRIBUTE(cudaDevAttrMemoryClockRate, memoryClockRate)
    HEDDLE_ATTRIBUTE(cudaDevAttrGlobalMemoryBusWidth, memoryBusWidth)
    HEDDLE_ATTRIBUTE(cudaDevAttrL2CacheSize, l2CacheSize)
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)
    HEDDLE_ATTRIBUTE(cudaDevAttrAsyncEngineCount, asyncEngineCount)
    HEDDLE_ATTRIBUTE(cudaDevAttrUnifiedAddressing, unifiedAddressing)
    HEDDLE_ATTRIBUTE(cudaDevAttrPciDomainId, pciDomainID)
    HEDDLE_ATTRIBUTE(cudaDevAttrTexturePitchAlignment, texturePitchAlignment)
    HEDDLE_ATTRIBUTE(cudaDevAttrComputeCapabilityMajor, major)
    HEDDLE_ATTRIBUTE(cudaDevAttrComputeCapabilityMinor, minor)
    HEDDLE_ATTRIBUTE(cudaDevAttrStreamPrioritiesSupported, streamPrioritiesSupported)
    HEDDLE_ATTRIBUTE(cudaDevAttrGlobalL1CacheSupported, globalL1CacheSupported)
    HEDDLE_ATTRIBUTE(cudaDevAttrLocalL1CacheSupported, localL1CacheSupported)
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor)
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxRegistersPerMultiprocessor, regsPerMultiprocessor)
    HEDDLE_ATTRIBUTE(cudaDevAttrManagedMemory, managedMemory)
    HEDDLE_ATTRIBUTE(cudaDevAttrIsMultiGpuBoard, isMultiGpuBoard)
    HEDDLE_ATTRIBUTE(cudaDevAttrMultiGpuBoardGroupID, multiGpuBoardGroupID)
    HEDDLE_ATTRIBUTE(cudaDevAttrHostNativeAtomicSupported, hostNativeAtomicSupported)
    HEDDLE_ATTRIBUTE(cudaDevAttrSingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio)
    HEDDLE_ATTRIBUTE(cudaDevAttrPageableMemoryAccess, pageableMemoryAccess)
    HEDDLE_ATTRIBUTE(cudaDevAttrConcurrentManagedAccess, concurrentManagedAccess)
    HEDDLE_ATTRIBUTE(cudaDevAttrComputePreemptionSupported, computePreemptionSupported)
    HEDDLE_ATTRIBUTE(cudaDevAttrCanUseHostPointerForRegisteredMem, canUseHostPointerForRegisteredMem)
    HEDDLE_ATTRIBUTE(cudaDevAttrCooperativeLaunch, cooperativeLaunch)
    HEDDLE_ATTRIBUTE(cudaDevAttrCooperativeMultiDeviceLaunch, cooperativeMultiDeviceLaunch)
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin)
    HEDDLE_ATTRIBUTE(cudaDevAttrMaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor)
    HEDDLE_ATTRIBUTE(cudaDevAttrReservedSharedMemoryPerBlock, reservedSharedMemPerBlock)
#undef HEDDLE_ATTRIBUTE
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
      *value = 1;
      return cudaSuccess;
    case cudaDevAttrCanFlushRemoteWrites:
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
    case cudaDevAttrIpcEventSupport:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrMaxPersistingL2CacheSize:
      *value = 0;
      return cudaSuccess;
  }
  return Fail(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceSynchronize() {
  const Guard guard;
  if (cudaError_t error = heddle::cuda::CheckUnsafe("cudaDeviceSynchronize"); error != cudaSuccess) return error;
  Timeline::Get().SynchronizeAll();
  return ContextError("cudaDeviceSynchronize");
}

cudaError_t cudaDeviceReset() {
  const Guard guard;
  heddle::cuda::FreeAll();
  return cudaSuccess;
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
  if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return Fail(cudaErrorUnsupportedLimit);
  heddle::cuda::limits[limit] = value;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit) {
  if (limit < 0 || limit > cudaLimitPersistingL2CacheSize) return Fail(cudaErrorUnsupportedLimit);
  if (value == nullptr) return Fail(cudaErrorInvalidValue);
  *value = heddle::cuda::limits[limit];
  return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache* config) {
  *config = heddle::cuda::cache_config;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
  heddle::cuda::cache_config = config;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig* config) {
  *config = heddle::cuda::bank_config;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) {
  heddle::cuda::bank_config = config == cudaSharedMemBankSizeDefault ? cudaSharedMemBankSizeFourByte : config;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* bus_id) {
  if (device == nullptr || bus_id == nullptr) return Fail(cudaErrorInvalidValue);
  if (std::strcmp(bus_id, heddle::cuda::kBusId) != 0) return Fail(cudaErrorInvalidDevice);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* bus_id, int length, int device) {
  if (cudaError_t error = CheckDevice(device); error != cudaSuccess) return error;
  if (bus_id == nullptr || length < static_cast<int>(sizeof(heddle::cuda::kBusId))) return Fail(cudaErrorInvalidValue);
  std::memcpy(bus_id, heddle::cuda::kBusId, sizeof(heddle::cuda::kBusId));
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (can == nullptr) return Fail(cudaErrorInvalidValue);
  *can = 0;
  return device == 0 && peer == 0 ? cudaSuccess : Fail(cudaErrorInvalidDevice);
}
// Of two devices, and there is one.
cudaError_t cudaDeviceGetP2PAttribute(int* value, enum cudaDeviceP2PAttr attribute, int, int) {
  const bool known = attribute >= cudaDevP2PAttrPerformanceRank && attribute <= cudaDevP2PAttrCudaArrayAccessSupported;
  return Fail(value == nullptr || !known ? cudaErrorInvalidValue : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { return Fail(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceDisablePeerAccess(int) { return Fail(cudaErrorInvalidDevice); }

cudaError_t cudaSetDeviceFlags(unsigned int flags) {
  heddle::cuda::device_flags = flags;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  if (flags == nullptr) return Fail(cudaErrorInvalidValue);
  *flags = heddle::cuda::device_flags;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return Fail(cudaErrorInvalidValue);
  const Guard guard;
  *version = heddle::cuda::CodeRegistry::Get().cuda_version();
  return cudaSuccess;
}

cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
cudaError_t cudaThreadGetLimit(size_t* value, enum cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache* config) { return cudaDeviceGetCacheConfig(config); }
cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"
