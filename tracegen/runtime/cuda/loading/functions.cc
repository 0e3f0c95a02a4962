// Kernels of the driver API: attributes, launches, occupancy.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "tracegen/runtime/cuda/device_model.h"
#include "tracegen/runtime/cuda/launch.h"
#include "tracegen/runtime/cuda/loading/modules.h"
#include "tracegen/runtime/cuda/state.h"

namespace heddle::cuda {
namespace {

// Loads the code of a kernel that the program itself has.
CUresult Prepare(const char* call, CUfunction handle, Kernel** kernel) {
  *kernel = handle == nullptr ? nullptr : CodeRegistry::Get().FindHandle(handle);
  if (*kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (cudaError_t error = (*kernel)->image->Load(call); error != cudaSuccess) return Result(error);
  return (*kernel)->image->FindKernel((*kernel)->name) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult Look(const char* call, CUfunction handle, Kernel** kernel, device::KernelInfo* info) {
  if (CUresult result = Prepare(call, handle, kernel); result != CUDA_SUCCESS) return result;
  return Result(Describe(call, *(*kernel)->image, (*kernel)->name, info));
}

CUresult LaunchFunction(const char* call, Kernel* function, LaunchShape shape, std::string parameters) {
  if (IsEmpty(shape)) {
    Explain(call, "kernel " + function->name + ": " + EmptyShape(shape));
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (shape.shared_bytes > static_cast<size_t>(function->max_dynamic_shared)) {
    Explain(call, "kernel " + function->name + ": " + std::to_string(shape.shared_bytes) +
                      " bytes of dynamic shared memory, but " + std::to_string(function->max_dynamic_shared) +
                      " are allowed; raise it with cuFuncSetAttribute");
    return CUDA_ERROR_INVALID_VALUE;
  }
  const device::KernelInfo& info = *function->image->FindKernel(function->name);
  KernelWork work;
  cudaError_t error = ChooseCluster(call, *function, info, shape, &work.cluster);
  if (error != cudaSuccess) return Result(error);
  // More bytes than the kernel takes are the padding at the end of a structure.
  const size_t wanted = info.parameter_bytes;
  if (parameters.size() < wanted) {
    Explain(call, "kernel " + function->name + " takes " + std::to_string(wanted) + " bytes of arguments, but " +
                      std::to_string(parameters.size()) + " are given; compare the arguments with its parameters");
    return CUDA_ERROR_INVALID_VALUE;
  }
  parameters.resize(wanted);
  work.kernel = function;
  work.function = function;
  work.shape = shape;
  work.parameters = std::move(parameters);
  const cudaError_t before = ContextError(call);
  return LaunchResult(before, RunKernel(call, std::move(work)));
}

// Where a parameter lies, in bytes.
CUresult ParameterPlace(CUfunction handle, size_t index, size_t* offset, size_t* bytes) {
  if (offset == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Kernel* kernel = nullptr;
  if (CUresult result = Prepare("cuFuncGetParamInfo", handle, &kernel); result != CUDA_SUCCESS) return result;
  const device::KernelInfo& info = *kernel->image->FindKernel(kernel->name);
  if (index >= info.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = info.parameters[index].offset;
  if (bytes != nullptr) *bytes = info.parameters[index].bytes;
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::CodeRegistry;
using heddle::cuda::Guard;
using heddle::cuda::Kernel;
using heddle::cuda::LaunchShape;

extern "C" {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  const Guard guard;
  if (value == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Kernel* kernel = nullptr;
  heddle::device::KernelInfo info;
  const CUresult result = heddle::cuda::Look("cuFuncGetAttribute", function, &kernel, &info);
  if (result != CUDA_SUCCESS) return result;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = heddle::cuda::MostThreads(info);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(info.static_shared_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = static_cast<int>(info.constant_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(info.local_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = static_cast<int>(info.registers);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = heddle::cuda::PtxVersion(*kernel->image);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = heddle::cuda::BinaryVersion(*kernel->image);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = kernel->max_dynamic_shared;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = -1;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *value = info.cluster[0] != 0 ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
      const int dimension = attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
      const unsigned int asked[3] = {kernel->cluster.x, kernel->cluster.y, kernel->cluster.z};
      *value = static_cast<int>(info.cluster[0] != 0 ? info.cluster[dimension] : asked[dimension]);
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *value = kernel->large_clusters ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      *value = cudaClusterSchedulingPolicyDefault;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  const Guard guard;
  Kernel* kernel = CodeRegistry::Get().FindHandle(function);
  if (kernel == nullptr) return function == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
    return value >= -1 && value <= 100 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  // The numbers are those of the runtime.
  if (heddle::cuda::SetClusterAttribute(attribute, value, kernel)) return CUDA_SUCCESS;
  if (attribute == CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE) {
    return value >= cudaClusterSchedulingPolicyDefault && value <= cudaClusterSchedulingPolicyLoadBalancing
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  }
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
      value > heddle::cuda::ChosenDevice().shared_per_block_on_request) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  kernel->max_dynamic_shared = value;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  const Guard guard;
  return CodeRegistry::Get().FindHandle(function) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  const Guard guard;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Kernel* kernel = CodeRegistry::Get().FindHandle(function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *name = kernel->name.c_str();
  return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  const Guard guard;
  if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Kernel* kernel = CodeRegistry::Get().FindHandle(function);
  if (kernel == nullptr || kernel->module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *module = kernel->module;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  const Guard guard;
  return heddle::cuda::ParameterPlace(function, index, offset, bytes);
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  const Guard guard;
  Kernel* kernel = nullptr;
  if (CUresult result = heddle::cuda::Prepare("cuLaunchKernel", function, &kernel); result != CUDA_SUCCESS) {
    return result;
  }
  std::string bytes;
  if (parameters != nullptr) {
    bytes = heddle::cuda::PackArguments(*kernel->image->FindKernel(kernel->name), parameters);
  } else if (extra != nullptr) {
    bytes = heddle::cuda::UnpackExtra(extra);
  }
  const LaunchShape shape = {dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared_bytes, stream};
  return heddle::cuda::LaunchFunction("cuLaunchKernel", kernel, shape, std::move(bytes));
}

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  const Guard guard;
  Kernel* kernel = CodeRegistry::Get().FindHandle(function);
  if (kernel == nullptr || x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
  kernel->block = dim3(x, y, z);
  return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned int bytes) {
  const Guard guard;
  Kernel* kernel = CodeRegistry::Get().FindHandle(function);
  if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  kernel->shared_bytes = bytes;
  return CUDA_SUCCESS;
}

CUresult cuParamSetSize(CUfunction function, unsigned int bytes) {
  const Guard guard;
  Kernel* kernel = CodeRegistry::Get().FindHandle(function);
  if (kernel == nullptr || bytes > heddle::cuda::kMaxParameterBytes) return CUDA_ERROR_INVALID_VALUE;
  kernel->parameters.resize(bytes);
  return CUDA_SUCCESS;
}

CUresult cuParamSetv(CUfunction function, int offset, void* data, unsigned int bytes) {
  constexpr unsigned int kMost = heddle::cuda::kMaxParameterBytes;
  const Guard guard;
  Kernel* kernel = CodeRegistry::Get().FindHandle(function);
  if (kernel == nullptr || offset < 0 || bytes > kMost || offset + bytes > kMost) return CUDA_ERROR_INVALID_VALUE;
  if (kernel->parameters.size() < offset + bytes) kernel->parameters.resize(offset + bytes);
  std::memcpy(kernel->parameters.data() + offset, data, bytes);
  return CUDA_SUCCESS;
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned int value) {
  return cuParamSetv(function, offset, &value, sizeof(value));
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
  return cuParamSetv(function, offset, &value, sizeof(value));
}

CUresult cuLaunch(CUfunction function) { return cuLaunchGrid(function, 1, 1); }

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  const Guard guard;
  Kernel* kernel = nullptr;
  if (CUresult result = heddle::cuda::Prepare("cuLaunchGrid", function, &kernel); result != CUDA_SUCCESS) return result;
  if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
  const LaunchShape shape = {dim3(width, height), kernel->block, kernel->shared_bytes, nullptr};
  return heddle::cuda::LaunchFunction("cuLaunchGrid", kernel, shape, kernel->parameters);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block_size,
                                                     size_t dynamic_shared_bytes) {
  const Guard guard;
  if (blocks == nullptr || function == nullptr || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
  heddle::device::KernelInfo info;
  Kernel* kernel = nullptr;
  const CUresult result = heddle::cuda::Look("cuOccupancyMaxActiveBlocksPerMultiprocessor", function, &kernel, &info);
  if (result == CUDA_SUCCESS) *blocks = heddle::cuda::ShownResidentBlocks(info, block_size, dynamic_shared_bytes);
  return result;
}

CUresult cuOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size, CUfunction function,
                                          CUoccupancyB2DSize shared_bytes, size_t dynamic_shared_bytes,
                                          int block_size_limit) {
  const Guard guard;
  if (min_grid_size == nullptr || block_size == nullptr || function == nullptr || block_size_limit < 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  heddle::device::KernelInfo info;
  Kernel* kernel = nullptr;
  const CUresult result = heddle::cuda::Look("cuOccupancyMaxPotentialBlockSize", function, &kernel, &info);
  if (result != CUDA_SUCCESS) return result;
  constexpr int kWarp = 32;
  int limit = heddle::cuda::MostThreads(info);
  if (block_size_limit != 0) limit = std::min(limit, block_size_limit);
  int most = 0;
  for (int size = (limit + kWarp - 1) / kWarp * kWarp; size > 0; size -= kWarp) {
    const int threads = std::min(size, limit);
    const size_t bytes = shared_bytes != nullptr ? shared_bytes(threads) : dynamic_shared_bytes;
    const int blocks = heddle::cuda::ShownResidentBlocks(info, threads, bytes);
    if (blocks * threads <= most) continue;
    most = blocks * threads;
    *block_size = threads;
    *min_grid_size = blocks * heddle::cuda::ChosenDevice().multiprocessors;
  }
  return CUDA_SUCCESS;
}

}  // extern "C"
