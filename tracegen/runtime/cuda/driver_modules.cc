// Modules, functions and launches of the driver API.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/code_text.h"
#include "tracegen/runtime/cuda/device_model.h"
#include "tracegen/runtime/cuda/driver_textures.h"
#include "tracegen/runtime/cuda/launch.h"
#include "tracegen/runtime/cuda/state.h"

struct CUfunc_st {
  heddle::cuda::CodeImage* image = nullptr;
  std::string name;  // in the module
  int max_dynamic_shared = 48 << 10;
  // Of launches before CUDA 4.
  dim3 block;
  unsigned int shared_bytes = 0;
  std::string parameters;
};

struct CUmod_st {
  std::string storage;  // of a module read from a file
  heddle::cuda::CodeImage image;
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;  // by name
};

namespace heddle::cuda {
namespace {

std::set<CUmodule>& Modules() {
  static auto& modules = *new std::set<CUmodule>;
  return modules;
}

CUresult Result(cudaError_t error) { return static_cast<CUresult>(error); }

CUresult Load(const char* call, const void* data, std::unique_ptr<CUmod_st> module, CUmodule* out) {
  if (out == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!module->image.Add(data)) {
    Explain(call,
            "this is no device code of heddle-nvcc (PTX text and the vendor's binaries cannot be loaded): make "
            "the module with heddle-nvcc -cubin, -ptx or -fatbin");
    return CUDA_ERROR_INVALID_IMAGE;
  }
  if (cudaError_t error = module->image.Load(call); error != cudaSuccess) return Result(error);
  *out = module.release();
  Modules().insert(*out);
  CodeRegistry::Get().Watch(&(*out)->image);
  return CUDA_SUCCESS;
}

CUresult LaunchFunction(const char* call, CUfunction function, const LaunchShape& shape, std::string parameters) {
  if (function == nullptr || !function->image->loaded()) return CUDA_ERROR_INVALID_HANDLE;
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
  // More bytes than the kernel takes are the padding at the end of a structure.
  const size_t wanted = function->image->FindKernel(function->name)->parameter_bytes;
  if (parameters.size() < wanted) {
    Explain(call, "kernel " + function->name + " takes " + std::to_string(wanted) + " bytes of arguments, but " +
                      std::to_string(parameters.size()) + " are given; compare the arguments with its parameters");
    return CUDA_ERROR_INVALID_VALUE;
  }
  parameters.resize(wanted);
  return Result(RunKernel(call, *function->image, function->name, shape, std::move(parameters)));
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::Guard;
using heddle::cuda::LaunchShape;
using heddle::cuda::Modules;
using heddle::cuda::Result;

extern "C" {

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  const Guard guard;
  std::ifstream in(path, std::ios::binary);
  if (!in) return CUDA_ERROR_FILE_NOT_FOUND;
  std::stringstream text;
  text << in.rdbuf();
  auto made = std::make_unique<CUmod_st>();
  made->storage = text.str();
  // Something else, or a part of device code: as something else.
  const bool is_text = made->storage.rfind(heddle::cuda::kCodeTextStart, 0) == 0;
  if (!is_text && heddle::cuda::DeviceCodeBytes(made->storage) == 0) made->storage.assign(64, '\0');
  const void* data = made->storage.data();
  return heddle::cuda::Load("cuModuleLoad", data, std::move(made), module);
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  const Guard guard;
  return heddle::cuda::Load("cuModuleLoadData", image, std::make_unique<CUmod_st>(), module);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, CUjit_option*, void**) {
  return cuModuleLoadData(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) { return cuModuleLoadData(module, image); }

CUresult cuModuleUnload(CUmodule module) {
  const Guard guard;
  if (Modules().erase(module) == 0) return CUDA_ERROR_INVALID_HANDLE;
  const std::unique_ptr<CUmod_st> owned(module);
  heddle::cuda::ForgetReferences(module);
  heddle::cuda::CodeRegistry::Get().Unwatch(&owned->image);
  return Result(owned->image.Unload("cuModuleUnload"));
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const Guard guard;
  if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (Modules().count(module) == 0) return CUDA_ERROR_INVALID_HANDLE;
  if (module->image.FindKernel(name) == nullptr) return CUDA_ERROR_NOT_FOUND;
  std::unique_ptr<CUfunc_st>& made = module->functions[name];
  if (made == nullptr) {
    made = std::make_unique<CUfunc_st>();
    made->image = &module->image;
    made->name = name;
  }
  *function = made.get();
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUmodule module, const char* name) {
  const Guard guard;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (Modules().count(module) == 0) return CUDA_ERROR_INVALID_HANDLE;
  const heddle::device::VariableInfo* variable = module->image.FindVariable(name);
  if (variable == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (pointer != nullptr) *pointer = variable->address;
  if (bytes != nullptr) *bytes = variable->bytes;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  const Guard guard;
  if (value == nullptr || function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  heddle::device::KernelInfo info;
  const cudaError_t error = heddle::cuda::Describe("cuFuncGetAttribute", *function->image, function->name, &info);
  if (error != cudaSuccess) return Result(error);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = info.max_threads != 0 ? static_cast<int>(info.max_threads) : heddle::cuda::kMaxThreadsPerBlock;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(info.static_shared_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(info.local_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = static_cast<int>(info.registers);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = heddle::cuda::ChosenDevice().capability;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function->max_dynamic_shared;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  const Guard guard;
  if (function == nullptr || attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
      value > heddle::cuda::ChosenDevice().shared_per_block_on_request) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  function->max_dynamic_shared = value;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                        unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
                        CUstream stream, void** parameters, void** extra) {
  const Guard guard;
  if (function == nullptr || !function->image->loaded()) return CUDA_ERROR_INVALID_HANDLE;
  const heddle::device::KernelInfo* info = function->image->FindKernel(function->name);
  std::string bytes;
  if (parameters != nullptr) {
    bytes = heddle::cuda::PackArguments(*info, parameters);
  } else if (extra != nullptr) {
    // Pairs of a name and a value: the buffer and its size.
    const void* buffer = nullptr;
    size_t size = 0;
    for (void** pair = extra; *pair != CU_LAUNCH_PARAM_END; pair += 2) {
      if (pair[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = pair[1];
      if (pair[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<size_t*>(pair[1]);
    }
    if (buffer != nullptr) bytes.assign(static_cast<const char*>(buffer), size);
  }
  const LaunchShape shape = {dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared_bytes, stream};
  return heddle::cuda::LaunchFunction("cuLaunchKernel", function, shape, std::move(bytes));
}

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
  if (function == nullptr || x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
  function->block = dim3(x, y, z);
  return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned int bytes) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  function->shared_bytes = bytes;
  return CUDA_SUCCESS;
}

CUresult cuParamSetSize(CUfunction function, unsigned int bytes) {
  if (function == nullptr || bytes > heddle::cuda::kMaxParameterBytes) return CUDA_ERROR_INVALID_VALUE;
  function->parameters.resize(bytes);
  return CUDA_SUCCESS;
}

CUresult cuParamSetv(CUfunction function, int offset, void* data, unsigned int bytes) {
  constexpr unsigned int kMost = heddle::cuda::kMaxParameterBytes;
  if (function == nullptr || offset < 0 || bytes > kMost || offset + bytes > kMost) return CUDA_ERROR_INVALID_VALUE;
  if (function->parameters.size() < offset + bytes) function->parameters.resize(offset + bytes);
  std::memcpy(function->parameters.data() + offset, data, bytes);
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
  if (function == nullptr || !function->image->loaded()) return CUDA_ERROR_INVALID_HANDLE;
  if (width <= 0 || height <= 0) return CUDA_ERROR_INVALID_VALUE;
  const LaunchShape shape = {dim3(width, height), function->block, function->shared_bytes, nullptr};
  return heddle::cuda::LaunchFunction("cuLaunchGrid", function, shape, function->parameters);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block_size,
                                                     size_t dynamic_shared_bytes) {
  const Guard guard;
  if (blocks == nullptr || function == nullptr || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
  heddle::device::KernelInfo info;
  const cudaError_t error =
      heddle::cuda::Describe("cuOccupancyMaxActiveBlocksPerMultiprocessor", *function->image, function->name, &info);
  if (error == cudaSuccess) *blocks = heddle::cuda::ShownResidentBlocks(info, block_size, dynamic_shared_bytes);
  return Result(error);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size, CUfunction function,
                                          CUoccupancyB2DSize shared_bytes, size_t dynamic_shared_bytes,
                                          int block_size_limit) {
  const Guard guard;
  if (min_grid_size == nullptr || block_size == nullptr || function == nullptr || block_size_limit < 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  heddle::device::KernelInfo info;
  const cudaError_t error =
      heddle::cuda::Describe("cuOccupancyMaxPotentialBlockSize", *function->image, function->name, &info);
  if (error != cudaSuccess) return Result(error);
  constexpr int kWarp = 32;
  int limit = info.max_threads != 0 ? static_cast<int>(info.max_threads) : heddle::cuda::kMaxThreadsPerBlock;
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
