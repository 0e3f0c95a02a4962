// Modules of the driver API: device code that a program loads by itself.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_LOADING_MODULES_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_LOADING_MODULES_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tracegen/runtime/cuda/api.h"
#include "tracegen/runtime/cuda/code_image.h"
#include "tracegen/runtime/cuda/loading/jit_options.h"

struct CUmod_st {
  std::string storage;  // of a module read from a file
  heddle::cuda::CodeImage image;
  std::map<std::string, std::unique_ptr<heddle::cuda::Kernel>> functions;  // by name
};

namespace heddle::cuda {

// Numbers of errors are the same in both APIs.
inline CUresult Result(cudaError_t error) { return static_cast<CUresult>(error); }

inline CUfunction HandleOf(Kernel* kernel) { return reinterpret_cast<CUfunction>(kernel); }

// The contents of a file. False if it cannot be read.
bool ReadWholeFile(const char* path, std::string* contents);
// "kernel.ptx" of a path.
std::string FileName(std::string_view path);
// "text1.ptx", "text2.ptx" ...: of texts that come from memory, in the order in which they are loaded.
std::string NextTextName();

// Loads device code from memory, or from a file. `call` is the function of the API.
CUresult LoadFromMemory(const char* call, const void* data, JitOptions options, CUmodule* module);
CUresult LoadFromFile(const char* call, const char* path, JitOptions options, CUmodule* module);
CUresult Unload(const char* call, CUmodule module);
bool IsModule(CUmodule module);

// The kernel of a module. CUDA_ERROR_NOT_FOUND if it has none of this name.
CUresult FindFunction(CUmodule module, const char* name, Kernel** kernel);
// At most `count` kernels, in the order of the code.
CUresult ListFunctions(CUmodule module, unsigned int count, std::vector<Kernel*>* kernels);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_LOADING_MODULES_H_
