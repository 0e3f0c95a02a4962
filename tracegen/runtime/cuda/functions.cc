// Attributes of kernels, clusters of blocks, and how many of them fit on a multiprocessor.
#include <algorithm>
#include <cstdint>
#include <string>

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
namespace {

constexpr unsigned int kMostBlocks = 16;
constexpr unsigned int kPortableBlocks = 8;
constexpr int kFirstCapability = 90;
// A cluster's blocks run on the multiprocessors of one part of the chip (graphics processing cluster), which has up to
// 18 of them (NVIDIA H100 Tensor Core GPU Architecture); not all are there on each.
constexpr int kMultiprocessorsPerPart = 16;

bool IsGiven(const dim3& size) { return size.x != 0; }

uint64_t Blocks(const dim3& size) { return uint64_t{size.x} * size.y * size.z; }

std::string Text(const dim3& size) {
  return "(" + std::to_string(size.x) + "," + std::to_string(size.y) + "," + std::to_string(size.z) + ")";
}

dim3 Compiled(const device::KernelInfo& info) { return dim3(info.cluster[0], info.cluster[1], info.cluster[2]); }

// Of a launch: by its attribute, by the kernel's, or as the kernel was compiled; 0 = none.
dim3 ClusterOf(const Kernel& kernel, const device::KernelInfo& info, const dim3& asked) {
  if (IsGiven(asked)) return asked;
  return IsGiven(kernel.cluster) ? kernel.cluster : Compiled(info);
}

unsigned int MostBlocks(const Kernel& kernel, const device::KernelInfo& info) {
  const unsigned int most = kernel.large_clusters || IsGiven(Compiled(info)) ? kMostBlocks : kPortableBlocks;
  return info.max_cluster_blocks == 0 ? most : std::min(most, info.max_cluster_blocks);
}

// What is wrong with clusters of a launch; empty: nothing.
std::string WhyNot(const Kernel& kernel, const device::KernelInfo& info, const dim3& size, const dim3& grid) {
  const std::string clusters = "clusters of " + Text(size) + " blocks";
  if (const dim3 compiled = Compiled(info); IsGiven(compiled) && Text(compiled) != Text(size)) {
    return clusters + ", but it was compiled for " + Text(compiled) + " (__cluster_dims__)";
  }
  if (size.x > kMostBlocks || size.y > kMostBlocks || size.z > kMostBlocks || Blocks(size) > MostBlocks(kernel, info)) {
    const bool may_be_larger = !kernel.large_clusters && Blocks(size) <= kMostBlocks && info.max_cluster_blocks == 0;
    return clusters + ", but at most " + std::to_string(MostBlocks(kernel, info)) + " are allowed" +
           (may_be_larger ? "; allow more with cudaFuncAttributeNonPortableClusterSizeAllowed" : "");
  }
  if (grid.x % size.x == 0 && grid.y % size.y == 0 && grid.z % size.z == 0) return "";
  return clusters + ", which do not divide its grid of " + Text(grid) + " blocks";
}

}  // namespace

dim3 AskedCluster(const cudaLaunchAttributeValue& value) {
  const auto& size = value.clusterDim;
  if (size.x == 0 && size.y == 0 && size.z == 0) return dim3(0, 0, 0);
  return dim3(std::max(1u, size.x), std::max(1u, size.y), std::max(1u, size.z));
}

cudaError_t ChooseCluster(const char* call, const Kernel& kernel, const device::KernelInfo& info,
                          const LaunchShape& shape, dim3* cluster) {
  const dim3 size = ClusterOf(kernel, info, shape.cluster);
  if (!IsGiven(size)) {
    *cluster = size;
    return cudaSuccess;
  }
  const std::string named = "kernel " + info.shown_name + ": ";
  if (Blocks(size) > 1 && ChosenDevice().capability < kFirstCapability) {
    Explain(call, named + "clusters of several blocks need compute capability 9.0; compile with -arch=sm_90");
    return Fail(cudaErrorNotSupported);
  }
  if (const std::string why = WhyNot(kernel, info, size, shape.grid); !why.empty()) {
    Explain(call, named + why);
    return Fail(cudaErrorInvalidClusterSize);
  }
  *cluster = size;
  return cudaSuccess;
}

bool SetClusterAttribute(int attribute, int value, Kernel* kernel) {
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed && (value == 0 || value == 1)) {
    kernel->large_clusters = value != 0;
    return true;
  }
  const bool is_width = attribute == cudaFuncAttributeRequiredClusterWidth;
  const bool is_height = attribute == cudaFuncAttributeRequiredClusterHeight;
  if (!is_width && !is_height && attribute != cudaFuncAttributeRequiredClusterDepth) return false;
  if (value < 1 || value > static_cast<int>(kMostBlocks)) return false;
  if (!IsGiven(kernel->cluster)) kernel->cluster = dim3(1, 1, 1);
  (is_width ? kernel->cluster.x : is_height ? kernel->cluster.y : kernel->cluster.z) = static_cast<unsigned int>(value);
  return true;
}

int ResidentClusters(const Kernel& kernel, const device::KernelInfo& info, const LaunchShape& shape) {
  dim3 size = ClusterOf(kernel, info, shape.cluster);
  if (!IsGiven(size)) size = dim3(1, 1, 1);
  const int resident =
      ShownResidentBlocks(info, static_cast<int>(shape.block.x * shape.block.y * shape.block.z), shape.shared_bytes);
  const int multiprocessors = ChosenDevice().multiprocessors;
  const int blocks = static_cast<int>(Blocks(size));
  if (blocks == 1) return resident * multiprocessors;
  const int whole = multiprocessors / kMultiprocessorsPerPart;
  const int rest = multiprocessors % kMultiprocessorsPerPart;
  return whole * (kMultiprocessorsPerPart * resident / blocks) + rest * resident / blocks;
}

namespace {

// What a program asks about a launch that it does not make.
template <typename Answer>
cudaError_t Ask(const char* call, const cudaLaunchConfig_t* config, const void* function, const Answer& answer) {
  const Guard guard;
  if (config == nullptr || (config->attrs == nullptr && config->numAttrs != 0)) return Fail(cudaErrorInvalidValue);
  LaunchShape shape{config->gridDim, config->blockDim, config->dynamicSmemBytes, nullptr};
  for (unsigned int i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id == cudaLaunchAttributeClusterDimension) shape.cluster = AskedCluster(config->attrs[i].val);
  }
  Kernel* kernel = CodeRegistry::Get().FindKernel(function);
  if (kernel == nullptr) return Fail(cudaErrorInvalidDeviceFunction);
  if (cudaError_t error = kernel->image->Load(call); error != cudaSuccess) return error;
  device::KernelInfo info;
  if (cudaError_t error = Describe(call, *kernel->image, kernel->name, &info); error != cudaSuccess) return error;
  return answer(*kernel, info, shape);
}

cudaError_t MaxActiveClusters(const char* call, int* clusters, const void* function, const cudaLaunchConfig_t* config) {
  if (clusters == nullptr) return Fail(cudaErrorInvalidValue);
  return Ask(call, config, function, [&](const Kernel& kernel, const device::KernelInfo& info, LaunchShape shape) {
    dim3 cluster;
    if (cudaError_t error = ChooseCluster(call, kernel, info, shape, &cluster); error != cudaSuccess) return error;
    *clusters = ResidentClusters(kernel, info, shape);
    return cudaSuccess;
  });
}

// The largest cluster along x of which one is resident.
cudaError_t MaxPotentialClusterSize(const char* call, int* blocks, const void* function,
                                    const cudaLaunchConfig_t* config) {
  if (blocks == nullptr) return Fail(cudaErrorInvalidValue);
  return Ask(call, config, function, [&](const Kernel& kernel, const device::KernelInfo& info, LaunchShape shape) {
    *blocks = 1;
    if (ChosenDevice().capability < kFirstCapability) return cudaSuccess;
    for (unsigned int size = 2; size <= MostBlocks(kernel, info); size *= 2) {
      shape.cluster = dim3(size);
      if (ResidentClusters(kernel, info, shape) > 0) *blocks = static_cast<int>(size);
    }
    return cudaSuccess;
  });
}

cudaLaunchConfig_t Translate(const CUlaunchConfig& config) {
  cudaLaunchConfig_t translated = {};
  translated.gridDim = dim3(config.gridDimX, config.gridDimY, config.gridDimZ);
  translated.blockDim = dim3(config.blockDimX, config.blockDimY, config.blockDimZ);
  translated.dynamicSmemBytes = config.sharedMemBytes;
  translated.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
  translated.numAttrs = config.numAttrs;
  return translated;
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

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const cudaLaunchConfig_t* config) {
  return heddle::cuda::MaxActiveClusters("cudaOccupancyMaxActiveClusters", clusters, function, config);
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function, const cudaLaunchConfig_t* config) {
  return heddle::cuda::MaxPotentialClusterSize("cudaOccupancyMaxPotentialClusterSize", blocks, function, config);
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaLaunchConfig_t translated = heddle::cuda::Translate(*config);
  return static_cast<CUresult>(
      heddle::cuda::MaxActiveClusters("cuOccupancyMaxActiveClusters", clusters, function, &translated));
}

CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function, const CUlaunchConfig* config) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const cudaLaunchConfig_t translated = heddle::cuda::Translate(*config);
  return static_cast<CUresult>(
      heddle::cuda::MaxPotentialClusterSize("cuOccupancyMaxPotentialClusterSize", blocks, function, &translated));
}

}  // extern "C"
