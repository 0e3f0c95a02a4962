// NVRTC: CUDA source that is compiled when the program runs. Here clang compiles it, in the device process. Link with
// -lnvrtc; heddle-nvcc finds it.
#ifndef __NVRTC_H__
#define __NVRTC_H__

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  NVRTC_SUCCESS = 0,
  NVRTC_ERROR_OUT_OF_MEMORY = 1,
  NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
  NVRTC_ERROR_INVALID_INPUT = 3,
  NVRTC_ERROR_INVALID_PROGRAM = 4,
  NVRTC_ERROR_INVALID_OPTION = 5,
  NVRTC_ERROR_COMPILATION = 6,
  NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
  NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
  NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
  NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
  NVRTC_ERROR_INTERNAL_ERROR = 11,
  NVRTC_ERROR_TIME_FILE_WRITE_FAILED = 12
} nvrtcResult;

typedef struct _nvrtcProgram* nvrtcProgram;

const char* nvrtcGetErrorString(nvrtcResult result);
nvrtcResult nvrtcVersion(int* major, int* minor);
// Compute capabilities that code can be made for, such as 70, in ascending order.
nvrtcResult nvrtcGetNumSupportedArchs(int* count);
nvrtcResult nvrtcGetSupportedArchs(int* architectures);

// `name` stands for the source in messages and traces; without one it is "default_program". The texts of `headers` are
// found under `include_names` before any file.
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int header_count,
                               const char* const* headers, const char* const* include_names);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program);
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count, const char* const* options);

// Texts end with a zero byte, which their size counts. Without a compilation they are invalid programs.
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes);
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx);
// For cuModuleLoadData and cuLinkAddData. There is one (size above 0) if -arch names a real architecture, such as
// sm_70.
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin);
// Refused: no such code is made.
nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram program, size_t* bytes);
nvrtcResult nvrtcGetLTOIR(nvrtcProgram program, char* code);
nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram program, size_t* bytes);
nvrtcResult nvrtcGetOptiXIR(nvrtcProgram program, char* code);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log);

// Before the compilation: a kernel or variable whose name in the module is wanted, such as "&ns::kernel<int>".
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression);
// After it. The name lives as long as the program.
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name);

#ifdef __cplusplus
}

// Templates that name a type for a name expression, with what the C++ library knows of it.
#if !defined(NVRTC_GET_TYPE_NAME) || NVRTC_GET_TYPE_NAME != 0
#if defined(__GNUC__) && defined(__GXX_RTTI)
#include <cxxabi.h>
#include <stdlib.h>

#include <string>
#include <typeinfo>

inline nvrtcResult nvrtcGetTypeName(const std::type_info& info, std::string* result) {
  int status = 0;
  char* name = abi::__cxa_demangle(info.name(), NULL, NULL, &status);
  if (name == NULL) return status == -1 ? NVRTC_ERROR_OUT_OF_MEMORY : NVRTC_ERROR_INTERNAL_ERROR;
  *result = name;
  free(name);
  return NVRTC_SUCCESS;
}

template <typename T>
struct HeddleNvrtcType {};

// With references and qualifiers, which a type_info does not have.
template <typename T>
nvrtcResult nvrtcGetTypeName(std::string* result) {
  const nvrtcResult found = nvrtcGetTypeName(typeid(HeddleNvrtcType<T>), result);
  if (found != NVRTC_SUCCESS) return found;
  const size_t start = result->find('<') + 1;
  *result = result->substr(start, result->rfind('>') - start);
  return NVRTC_SUCCESS;
}
#endif  // RTTI
#endif  // NVRTC_GET_TYPE_NAME
#endif  // __cplusplus

#endif  // __NVRTC_H__
