// What all functions of the CUDA runtime share: one lock, and the errors of threads.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_STATE_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_STATE_H_

#include <mutex>
#include <string>

#include "tracegen/runtime/client/device_client.h"
#include "tracegen/runtime/cuda/api.h"

namespace heddle::cuda {

// Held by every function of the API while it looks at or changes the runtime's state. May be taken again by the same
// thread, as functions of the API call one another.
class Guard {
 public:
  Guard() : lock_(Mutex()) {}

 private:
  static std::recursive_mutex& Mutex();
  std::lock_guard<std::recursive_mutex> lock_;
};

// Makes `error` the thread's last error, unless it is cudaSuccess; returns it.
cudaError_t Fail(cudaError_t error);
// Fail for an answer of the device: its message, if it is no usual outcome of a call, goes to stderr (once).
// `call` is the function of the API.
cudaError_t Fail(const char* call, const device::Result& result);
// Why nothing can be done with the device any more: the error of a kernel that has failed before, or, in the child of a
// fork, that the device is the parent's, which is explained. cudaSuccess if nothing is wrong. Every call that waits, or
// that touches device memory before it asks the device process, returns it.
cudaError_t ContextError(const char* call);
// What a launch through the driver API answers: that its kernel has failed is told, as by a device, when the program
// waits for it, and by every later call. `before`: what ContextError said before the launch.
CUresult LaunchResult(cudaError_t before, cudaError_t error);
// Says on stderr, once per text, why a call fails.
void Explain(const char* call, const std::string& message);

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_STATE_H_
