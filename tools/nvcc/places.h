// Where the parts of Heddle and the compilers are that heddle-nvcc uses.
#ifndef HEDDLE_TOOLS_NVCC_PLACES_H_
#define HEDDLE_TOOLS_NVCC_PLACES_H_

#include <optional>
#include <string>

namespace heddle::nvcc {

struct Places {
  std::string headers;         // folder of cuda_runtime.h and heddle_cuda.h
  std::string core_libraries;  // folder of thrust, cub and cuda/std in the user's own toolkit; empty without it
  std::string runtime;         // libheddle_cuda.a
  std::string toolkit;         // folder laid out as a CUDA toolkit: bin/nvcc, include, lib64
  std::string device_program;  // heddle-capture
  std::string clang;           // clang++ 19, for .cu files
  std::string clang_wrappers;  // clang's cuda_wrappers folder: device versions of parts of the C++ library
  std::string host_c;          // host compilers, for everything else and for linking
  std::string host_cxx;
  bool host_is_gcc = false;
  std::string vendor_nvcc;  // for --ptx-from; empty without it
};

// Looks beside the running program (an installation or a build folder). `host_compiler` is what -ccbin says, or empty:
// then g++ if there is one, else clang. Nothing and a message in `error` if something is missing.
std::optional<Places> FindPlaces(const std::string& host_compiler, std::string* error);

// The full path of a program, looked for as a shell does; empty if there is none.
std::string FindProgram(const std::string& name);

}  // namespace heddle::nvcc

#endif  // HEDDLE_TOOLS_NVCC_PLACES_H_
