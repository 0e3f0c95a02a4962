// Errors: translation of the device's, the last error of a thread, names and texts.
#include <pthread.h>

#include <cstdio>
#include <set>
#include <string>

#include "tracegen/runtime/cuda/api.h"
#include "tracegen/runtime/cuda/state.h"

// The path of heddle-capture, in programs that heddle-nvcc has linked: those without device code of their own (users of
// the driver API) have it from nowhere else.
extern "C" [[gnu::weak]] const char heddle_device_program[];

namespace heddle::cuda {
namespace {

[[maybe_unused]] const bool device_program_is_known = [] {
  if (heddle_device_program != nullptr) device::DeviceClient::Get().AddDeviceProgram(heddle_device_program);
  return true;
}();

thread_local cudaError_t last_error = cudaSuccess;
// After a kernel has failed, every call of the process fails with its error (CUDA: the context is lost).
cudaError_t sticky_error = cudaSuccess;

cudaError_t FaultError(const std::string& message) {
  if (message.find("assert") != std::string::npos) return cudaErrorAssert;
  if (message.find("misaligned") != std::string::npos) return cudaErrorMisalignedAddress;
  if (message.find("trap") != std::string::npos) return cudaErrorLaunchFailure;
  return cudaErrorIllegalAddress;
}

cudaError_t Translate(const device::Result& result) {
  switch (result.error) {
    case device::Error::kOk:
      return cudaSuccess;
    case device::Error::kNoDevice:
      return device::DeviceClient::CheckProcess().ok() ? cudaErrorNoDevice : cudaErrorInitializationError;
    case device::Error::kInvalidValue:
      return cudaErrorInvalidValue;
    case device::Error::kOutOfMemory:
      return cudaErrorMemoryAllocation;
    case device::Error::kBuildFailure:
      return cudaErrorInvalidKernelImage;
    case device::Error::kUnknownKernel:
      return cudaErrorInvalidDeviceFunction;
    case device::Error::kInvalidLaunch:
      return cudaErrorInvalidConfiguration;
    case device::Error::kKernelFault:
      return FaultError(result.message);
    case device::Error::kUnsupported:
      return cudaErrorNotSupported;
    case device::Error::kDisconnected:
      return cudaErrorLaunchFailure;
    case device::Error::kNoCode:
      return cudaErrorNoKernelImageForDevice;
  }
  return cudaErrorUnknown;
}

}  // namespace

std::recursive_mutex& Guard::Mutex() {
  // A thread that the child of a fork does not have may hold it: the child begins with a new one.
  static auto*& mutex = *new std::recursive_mutex*(new std::recursive_mutex);
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] { mutex = new std::recursive_mutex; });
  return *mutex;
}

cudaError_t Fail(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t Fail(const char* call, const device::Result& result) {
  if (result.ok()) return cudaSuccess;
  const cudaError_t error = Translate(result);
  const bool sticky = result.error == device::Error::kKernelFault || result.error == device::Error::kDisconnected;
  if (sticky && sticky_error == cudaSuccess) sticky_error = error;
  // Programs try how much memory there is: that is no news.
  if (result.error != device::Error::kOutOfMemory) Explain(call, result.message);
  return Fail(sticky ? sticky_error : error);
}

cudaError_t ContextError(const char* call) {
  if (const device::Result mine = device::DeviceClient::CheckProcess(); !mine.ok()) return Fail(call, mine);
  return sticky_error;
}

CUresult LaunchResult(cudaError_t before, cudaError_t error) {
  const bool failed_now = before == cudaSuccess && sticky_error != cudaSuccess;
  return failed_now ? CUDA_SUCCESS : static_cast<CUresult>(error);
}

void Explain(const char* call, const std::string& message) {
  static auto& said = *new std::set<std::string>;
  const Guard guard;
  if (!said.insert(message).second) return;
  std::fflush(stdout);
  std::fprintf(stderr, "heddle: %s: %s\n", call, message.c_str());
}

}  // namespace heddle::cuda

using heddle::cuda::Guard;

extern "C" {

cudaError_t cudaGetLastError() {
  const Guard guard;
  const cudaError_t error =
      heddle::cuda::sticky_error != cudaSuccess ? heddle::cuda::sticky_error : heddle::cuda::last_error;
  heddle::cuda::last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() {
  const Guard guard;
  return heddle::cuda::sticky_error != cudaSuccess ? heddle::cuda::sticky_error : heddle::cuda::last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define HEDDLE_CASE(name, number, text) \
  case name:                            \
    return #name;
    HEDDLE_CUDA_ERRORS(HEDDLE_CASE)
#undef HEDDLE_CASE
    default:
      return "unrecognized error code";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define HEDDLE_CASE(name, number, text) \
  case name:                            \
    return text;
    HEDDLE_CUDA_ERRORS(HEDDLE_CASE)
#undef HEDDLE_CASE
    default:
      return "unrecognized error code";
  }
}

}  // extern "C"
