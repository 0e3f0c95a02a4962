// NVRTC. The program holds no compiler: the device process has one, and is asked for code and messages.
#pragma GCC visibility push(default)
#include "tracegen/runtime/cuda/include/nvrtc.h"
#pragma GCC visibility pop

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tracegen/runtime/client/device_client.h"
#include "tracegen/runtime/cuda/include/heddle_cuda_version.h"
#include "tracegen/runtime/protocol/targets.h"

// Of programs that heddle-nvcc links: where heddle-capture is.
extern "C" [[gnu::weak]] const char heddle_device_program[];

struct _nvrtcProgram {
  std::string source;
  std::string name;
  std::vector<heddle::device::SourceHeader> headers;
  std::vector<std::string> expressions;
  bool tried = false;  // to compile it
  bool compiled = false;
  heddle::device::CompiledCuda result;
};

namespace {

using heddle::device::CompileCudaRequest;
using heddle::device::DeviceClient;
using heddle::device::Error;
using heddle::device::kComputeCapabilities;
using heddle::device::Result;

// Programs there are: others are refused, not followed.
struct Programs {
  std::mutex mutex;
  std::set<nvrtcProgram> all;

  static Programs& Get() {
    static auto& programs = *new Programs;
    return programs;
  }
};

bool Exists(nvrtcProgram program) {
  Programs& programs = Programs::Get();
  const std::lock_guard lock(programs.mutex);
  return programs.all.count(program) != 0;
}

nvrtcResult Outcome(const Result& result) {
  switch (result.error) {
    case Error::kOk:
      return NVRTC_SUCCESS;
    case Error::kInvalidValue:
      return NVRTC_ERROR_INVALID_OPTION;
    case Error::kBuildFailure:
      return NVRTC_ERROR_COMPILATION;
    case Error::kOutOfMemory:
      return NVRTC_ERROR_OUT_OF_MEMORY;
    default:
      return NVRTC_ERROR_INTERNAL_ERROR;
  }
}

using Text = std::string heddle::device::CompiledCuda::*;

// `zero` bytes end what is a text.
nvrtcResult Size(nvrtcProgram program, Text text, size_t zero, size_t* bytes) {
  if (!Exists(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  if (bytes == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *bytes = (program->result.*text).size() + zero;
  return NVRTC_SUCCESS;
}

nvrtcResult Copy(nvrtcProgram program, Text text, size_t zero, char* to) {
  if (!Exists(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  if (to == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  const std::string& value = program->result.*text;
  std::memcpy(to, value.c_str(), value.size() + zero);
  return NVRTC_SUCCESS;
}

// For code that there is only after a compilation.
bool HasCode(nvrtcProgram program) { return !Exists(program) || program->compiled; }

// Code that is never made.
nvrtcResult Refuse(nvrtcProgram program) {
  return Exists(program) ? NVRTC_ERROR_INVALID_INPUT : NVRTC_ERROR_INVALID_PROGRAM;
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) {
  static constexpr const char* kNames[] = {
      "NVRTC_SUCCESS",
      "NVRTC_ERROR_OUT_OF_MEMORY",
      "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
      "NVRTC_ERROR_INVALID_INPUT",
      "NVRTC_ERROR_INVALID_PROGRAM",
      "NVRTC_ERROR_INVALID_OPTION",
      "NVRTC_ERROR_COMPILATION",
      "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
      "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
      "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
      "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
      "NVRTC_ERROR_INTERNAL_ERROR",
      "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
  };
  const auto number = static_cast<size_t>(result);
  return number < std::size(kNames) ? kNames[number] : "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *major = HEDDLE_CUDA_VERSION / 1000;
  *minor = HEDDLE_CUDA_VERSION % 1000 / 10;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  if (count == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *count = static_cast<int>(std::size(kComputeCapabilities));
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int* architectures) {
  if (architectures == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::copy(std::begin(kComputeCapabilities), std::end(kComputeCapabilities), architectures);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int header_count,
                               const char* const* headers, const char* const* include_names) {
  if (program == nullptr || source == nullptr || header_count < 0) return NVRTC_ERROR_INVALID_INPUT;
  if (header_count > 0 && (headers == nullptr || include_names == nullptr)) return NVRTC_ERROR_INVALID_INPUT;
  auto made = std::make_unique<_nvrtcProgram>();
  made->source = source;
  made->name = name != nullptr && *name != '\0' ? name : "default_program";
  for (int i = 0; i < header_count; ++i) {
    if (headers[i] == nullptr || include_names[i] == nullptr) return NVRTC_ERROR_INVALID_INPUT;
    made->headers.push_back({include_names[i], headers[i]});
  }
  *program = made.release();
  Programs& programs = Programs::Get();
  const std::lock_guard lock(programs.mutex);
  programs.all.insert(*program);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  Programs& programs = Programs::Get();
  const std::lock_guard lock(programs.mutex);
  if (programs.all.erase(*program) == 0) return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count, const char* const* options) {
  if (!Exists(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  if (option_count < 0 || (option_count > 0 && options == nullptr)) return NVRTC_ERROR_INVALID_INPUT;
  CompileCudaRequest request;
  for (int i = 0; i < option_count; ++i) {
    if (options[i] == nullptr) return NVRTC_ERROR_INVALID_INPUT;
    request.options.emplace_back(options[i]);
  }
  request.source = program->source;
  request.name = program->name;
  request.headers = program->headers;
  request.name_expressions = program->expressions;
  if (heddle_device_program != nullptr) DeviceClient::Get().AddDeviceProgram(heddle_device_program);
  program->result = {};
  const Result result = DeviceClient::Get().CompileCuda(std::move(request), &program->result);
  program->tried = true;
  program->compiled = result.ok();
  const nvrtcResult outcome = Outcome(result);
  // No compiler, no device process: programs ask for the log only after errors of their source.
  if (outcome == NVRTC_ERROR_INTERNAL_ERROR && program->result.log.empty()) program->result.log = result.message + "\n";
  return outcome;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes) {
  if (!HasCode(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  return Size(program, &heddle::device::CompiledCuda::ptx, 1, bytes);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx) {
  if (!HasCode(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  return Copy(program, &heddle::device::CompiledCuda::ptx, 1, ptx);
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) {
  if (!HasCode(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  return Size(program, &heddle::device::CompiledCuda::image, 0, bytes);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  if (!HasCode(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  return Copy(program, &heddle::device::CompiledCuda::image, 0, cubin);
}

nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram program, size_t*) { return Refuse(program); }
nvrtcResult nvrtcGetLTOIR(nvrtcProgram program, char*) { return Refuse(program); }
nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram program, size_t*) { return Refuse(program); }
nvrtcResult nvrtcGetOptiXIR(nvrtcProgram program, char*) { return Refuse(program); }

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  return Size(program, &heddle::device::CompiledCuda::log, 1, bytes);
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  return Copy(program, &heddle::device::CompiledCuda::log, 1, log);
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression) {
  if (!Exists(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  if (program->tried) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  program->expressions.emplace_back(expression);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name) {
  if (!Exists(program)) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr || name == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  if (!program->compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  const std::vector<std::string>& lowered = program->result.lowered_names;
  for (size_t i = 0; i < program->expressions.size() && i < lowered.size(); ++i) {
    if (program->expressions[i] != expression || lowered[i].empty()) continue;
    *name = lowered[i].c_str();
    return NVRTC_SUCCESS;
  }
  return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

}  // extern "C"
