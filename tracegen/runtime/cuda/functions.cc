// Attributes of kernels, and how many blocks fit on a multiprocessor.
#include <algorithm>
#include <cstdint>

#include "tracegen/runtime/cuda/clusters.h"
#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/device_model.h"
#include "tracegen/runtime/cuda/launch.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {

// CUDA C++ Best Practices Guide, "Calculating Occupancy": the least of what threads, blocks, registers and shared
// memory allow, each with its unit of allocation.
int ResidentBlocks(const device::KernelInfo& kernel, int threads, size_t dynamic_shared_bytes) {
  const DeviceModel& model = ChosenDevice();
  if (threads <= 0 || threads > kMaxThreadsPerBlock) return 0;
  const int warps = (threads + kWarpSize - 1) / kWarpSize;
  int blocks = std::min(model.blocks_per_multiprocessor, model.threads_per_multiprocessor / (warps * kWarpSize));
  const auto registers = static_cast<int>(kernel.registers);
  if (registers > 0) {
    const int per_warp = (registers * kWarpSize + kRegisterUnit - 1) / kRegisterUnit * kRegisterUnit;
    blocks = std::min(blocks, kRegisters / per_warp / warps);
  }
  const size_t shared =
      (kernel.static_shared_bytes + dynamic_shared_bytes + kSharedUnit - 1) / kSharedUnit * kSharedUnit;
  if (shared > 0) blocks = std::min(blocks, static_cast<int>(model.shared_per_multiprocessor / shared));
  return blocks;
}

int MostThreads(const device::KernelInfo& kernel) {
  const uint32_t* required = kernel.required_block;
  if (required[0] != 0) return static_cast<int>(required[0] * required[1] * required[2]);
  return kernel.max_threads != 0 ? std::min(static_cast<int>(kernel.max_threads), kMaxThreadsPerBlock)
                                 : kMaxThreadsPerBlock;
}

int PtxVersion(const CodeImage& image) {
  const int target = image.target();
  return target != 0 ? target : ChosenDevice().capability;
}

int BinaryVersion(const CodeImage& image) { return std::max(ChosenDevice().capability, PtxVersion(image)); }

uint64_t MostLiveBlocks(const device::KernelInfo& kernel, uint64_t threads) {
  if (kernel.live_threads == 0) return ~uint64_t{0};
  return std::clamp<uint64_t>(kernel.live_threads / threads, 1, kernel.live_blocks);
}

int ShownResidentBlocks(const device::KernelInfo& kernel, int threads, size_t dynamic_shared_bytes) {
  const int blocks = ResidentBlocks(kernel, threads, dynamic_shared_bytes);
  if (blocks <= 1 || kernel.live_threads == 0) return blocks;
  const uint64_t live = MostLiveBlocks(kernel, static_cast<uint64_t>(threads));
  return std::clamp(static_cast<int>(live) / ChosenDevice().multiprocessors, 1, blocks);
}

namespace {

// The kernel behind a host function, compiled and described.
cudaError_t Look(const char* call, const void* function, Kernel** kernel, device::KernelInfo* info) {
  *kernel = CodeRegistry::Get().FindKernel(function);
  if (*kernel == nullptr) return Fail(cudaErrorInvalidDeviceFunction);
  if (cudaError_t error = (*kernel)->image->Load(call); error != cudaSuccess) return error;
  return Describe(call, *(*kernel)->image, (*kernel)->name, info);
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::Fail;
using heddle::cuda::Guard;

extern "C" {

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, const void* function) {
  const Guard guard;
  if (attributes == nullptr) return Fail(cudaErrorInvalidValue);
  heddle::cuda::Kernel* kernel = nullptr;
  heddle::device::KernelInfo info;
  cudaError_t error = heddle::cuda::Look("cudaFuncGetAttributes", function, &kernel, &info);
  if (error != cudaSuccess) return error;
  *attributes = cudaFuncAttributes{};
  attributes->sharedSizeBytes = info.static_shared_bytes;
  attributes->constSizeBytes = info.constant_bytes;
  attributes->localSizeBytes = info.local_bytes;
  attributes->maxThreadsPerBlock = heddle::cuda::MostThreads(info);
  attributes->numRegs = static_cast<int>(info.registers);
  attributes->ptxVersion = heddle::cuda::PtxVersion(*kernel->image);
  attributes->binaryVersion = heddle::cuda::BinaryVersion(*kernel->image);
  attributes->maxDynamicSharedSizeBytes =
      kernel->max_dynamic_shared -
      static_cast<int>(std::min<uint32_t>(info.static_shared_bytes, kernel->max_dynamic_shared));
  attributes->preferredShmemCarveout = cudaSharedmemCarveoutDefault;
  attributes->clusterDimMustBeSet = info.cluster[0] != 0 ? 1 : 0;
  const dim3 compiled(info.cluster[0], info.cluster[1], info.cluster[2]);
  const dim3& cluster = info.cluster[0] != 0 ? compiled : kernel->cluster;
  attributes->requiredClusterWidth = static_cast<int>(cluster.x);
  attributes->requiredClusterHeight = static_cast<int>(cluster.y);
  attributes->requiredClusterDepth = static_cast<int>(cluster.z);
  attributes->nonPortableClusterSizeAllowed = kernel->large_clusters ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* function, enum cudaFuncAttribute attribute, int value) {
  const Guard guard;
  heddle::cuda::Kernel* kernel = heddle::cuda::CodeRegistry::Get().FindKernel(function);
  if (kernel == nullptr) return Fail(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
    return value >= -1 && value <= 100 ? cudaSuccess : Fail(cudaErrorInvalidValue);
  }
  if (heddle::cuda::SetClusterAttribute(attribute, value, kernel)) return cudaSuccess;
  if (attribute == cudaFuncAttributeClusterSchedulingPolicyPreference) {
    return value >= cudaClusterSchedulingPolicyDefault && value <= cudaClusterSchedulingPolicyLoadBalancing
               ? cudaSuccess
               : Fail(cudaErrorInvalidValue);
  }
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      value > heddle::cuda::ChosenDevice().shared_per_block_on_request) {
    return Fail(cudaErrorInvalidValue);
  }
  kernel->max_dynamic_shared = value;
  return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void* function, enum cudaFuncCache) {
  const Guard guard;
  return heddle::cuda::CodeRegistry::Get().FindKernel(function) != nullptr ? cudaSuccess
                                                                           : Fail(cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, enum cudaSharedMemConfig) {
  return cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_size,
                                                          size_t dynamic_shared_bytes) {
  const Guard guard;
  if (blocks == nullptr || block_size <= 0) return Fail(cudaErrorInvalidValue);
  heddle::cuda::Kernel* kernel = nullptr;
  heddle::device::KernelInfo info;
  cudaError_t error = heddle::cuda::Look("cudaOccupancyMaxActiveBlocksPerMultiprocessor", function, &kernel, &info);
  if (error == cudaSuccess) *blocks = heddle::cuda::ShownResidentBlocks(info, block_size, dynamic_shared_bytes);
  return error;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int block_size,
                                                                   size_t dynamic_shared_bytes, unsigned int) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, dynamic_shared_bytes);
}

}  // extern "C"
