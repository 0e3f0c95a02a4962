// Libraries of device code, of both APIs: modules that belong to no context.
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tracegen/runtime/cuda/loading/modules.h"
#include "tracegen/runtime/cuda/state.h"

struct CUlib_st {
  CUmodule module = nullptr;
};

namespace heddle::cuda {
namespace {

std::set<CUlibrary>& Libraries() {
  static auto& libraries = *new std::set<CUlibrary>;
  return libraries;
}

CUlibrary Keep(CUmodule module) {
  auto* library = new CUlib_st{module};
  Libraries().insert(library);
  return library;
}

// `load` makes the module.
template <typename Load>
CUresult LoadLibrary(CUlibrary* library, const Load& load) {
  if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUmodule module = nullptr;
  const CUresult result = load(&module);
  if (result == CUDA_SUCCESS) *library = Keep(module);
  return result;
}

CUkernel AsKernel(Kernel* kernel) { return reinterpret_cast<CUkernel>(kernel); }
CUfunction AsFunction(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }
bool IsLibrary(CUlibrary library) { return Libraries().count(library) != 0; }

// Errors of libraries as the runtime has them.
cudaError_t Runtime(CUresult result) {
  if (result == CUDA_ERROR_NOT_FOUND) return Fail(cudaErrorSymbolNotFound);
  return Fail(static_cast<cudaError_t>(result));
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::AsFunction;
using heddle::cuda::AsKernel;
using heddle::cuda::CodeRegistry;
using heddle::cuda::Fail;
using heddle::cuda::Guard;
using heddle::cuda::IsLibrary;
using heddle::cuda::JitOptions;
using heddle::cuda::Kernel;
using heddle::cuda::LoadLibrary;
using heddle::cuda::Runtime;

extern "C" {

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options, void** values,
                           unsigned int count, CUlibraryOption*, void**, unsigned int) {
  const Guard guard;
  return LoadLibrary(library, [&](CUmodule* module) {
    return heddle::cuda::LoadFromMemory("cuLibraryLoadData", code, JitOptions(count, options, values), module);
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options, void** values,
                               unsigned int count, CUlibraryOption*, void**, unsigned int) {
  const Guard guard;
  return LoadLibrary(library, [&](CUmodule* module) {
    return heddle::cuda::LoadFromFile("cuLibraryLoadFromFile", path, JitOptions(count, options, values), module);
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  const Guard guard;
  if (heddle::cuda::Libraries().erase(library) == 0) return CUDA_ERROR_INVALID_HANDLE;
  const std::unique_ptr<CUlib_st> owned(library);
  return heddle::cuda::Unload("cuLibraryUnload", library->module);
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  const Guard guard;
  if (kernel == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsLibrary(library)) return CUDA_ERROR_INVALID_HANDLE;
  Kernel* found = nullptr;
  const CUresult result = heddle::cuda::FindFunction(library->module, name, &found);
  if (result == CUDA_SUCCESS) *kernel = AsKernel(found);
  return result;
}

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary library) {
  const Guard guard;
  return IsLibrary(library) ? cuModuleGetFunctionCount(count, library->module) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int count, CUlibrary library) {
  const Guard guard;
  if (!IsLibrary(library)) return CUDA_ERROR_INVALID_HANDLE;
  return cuModuleEnumerateFunctions(reinterpret_cast<CUfunction*>(kernels), count, library->module);
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  const Guard guard;
  if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsLibrary(library)) return CUDA_ERROR_INVALID_HANDLE;
  *module = library->module;
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr* pointer, size_t* bytes, CUlibrary library, const char* name) {
  const Guard guard;
  return IsLibrary(library) ? cuModuleGetGlobal(pointer, bytes, library->module, name) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuLibraryGetManaged(CUdeviceptr* pointer, size_t* bytes, CUlibrary library, const char* name) {
  const Guard guard;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!IsLibrary(library)) return CUDA_ERROR_INVALID_HANDLE;
  const heddle::device::VariableInfo* variable = library->module->image.FindVariable(name);
  if (variable == nullptr || !variable->managed) return CUDA_ERROR_NOT_FOUND;
  return cuModuleGetGlobal(pointer, bytes, library->module, name);
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  const Guard guard;
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (CodeRegistry::Get().FindHandle(kernel) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *function = AsFunction(kernel);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  const Guard guard;
  if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Kernel* known = CodeRegistry::Get().FindHandle(kernel);
  for (const CUlibrary one : heddle::cuda::Libraries()) {
    if (known == nullptr || known->module != one->module) continue;
    *library = one;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) { return cuFuncGetName(name, AsFunction(kernel)); }

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return cuFuncGetParamInfo(AsFunction(kernel), index, offset, bytes);
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return device != 0 ? CUDA_ERROR_INVALID_DEVICE : cuFuncGetAttribute(value, attribute, AsFunction(kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return device != 0 ? CUDA_ERROR_INVALID_DEVICE : cuFuncSetAttribute(AsFunction(kernel), attribute, value);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  return device != 0 ? CUDA_ERROR_INVALID_DEVICE : cuFuncSetCacheConfig(AsFunction(kernel), config);
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, enum cudaJitOption* options, void** values,
                                unsigned int count, enum cudaLibraryOption*, void**, unsigned int) {
  const Guard guard;
  return Runtime(LoadLibrary(library, [&](CUmodule* module) {
    const JitOptions jit(count, reinterpret_cast<CUjit_option*>(options), values);
    return heddle::cuda::LoadFromMemory("cudaLibraryLoadData", code, jit, module);
  }));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path, enum cudaJitOption* options,
                                    void** values, unsigned int count, enum cudaLibraryOption*, void**, unsigned int) {
  const Guard guard;
  return Runtime(LoadLibrary(library, [&](CUmodule* module) {
    const JitOptions jit(count, reinterpret_cast<CUjit_option*>(options), values);
    return heddle::cuda::LoadFromFile("cudaLibraryLoadFromFile", path, jit, module);
  }));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) { return Runtime(cuLibraryUnload(library)); }

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return Runtime(cuLibraryGetKernel(kernel, library, name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned int* count, cudaLibrary_t library) {
  return Runtime(cuLibraryGetKernelCount(count, library));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned int count, cudaLibrary_t library) {
  return Runtime(cuLibraryEnumerateKernels(kernels, count, library));
}

cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
  CUdeviceptr address = 0;
  const CUresult result = cuLibraryGetGlobal(&address, bytes, library, name);
  if (result == CUDA_SUCCESS && pointer != nullptr) *pointer = reinterpret_cast<void*>(address);
  return Runtime(result);
}

cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
  CUdeviceptr address = 0;
  const CUresult result = cuLibraryGetManaged(&address, bytes, library, name);
  if (result == CUDA_SUCCESS && pointer != nullptr) *pointer = reinterpret_cast<void*>(address);
  return Runtime(result);
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  const Guard guard;
  if (kernel == nullptr) return Fail(cudaErrorInvalidValue);
  CodeRegistry& registry = CodeRegistry::Get();
  Kernel* found = registry.FindKernel(function);
  if (found == nullptr) return Fail(cudaErrorInvalidDeviceFunction);
  registry.AddHandle(found);
  *kernel = AsKernel(found);
  return cudaSuccess;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* handle, const void* function) {
  return cudaGetKernel(reinterpret_cast<cudaKernel_t*>(handle), function);
}

}  // extern "C"
