// Machine code for instrumented kernels.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CODE_JIT_H_
#define HEDDLE_TRACEGEN_EXECUTE_CODE_JIT_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/instrument/instrument.h"

namespace heddle::tracegen {

// Code lives as long as the object.
class CompiledKernel {
 public:
  ~CompiledKernel();
  KernelEntry entry() const { return entry_; }

 private:
  friend absl::StatusOr<std::unique_ptr<CompiledKernel>> CompileForHost(InstrumentedKernel& kernel);
  struct State;
  CompiledKernel();
  std::unique_ptr<State> state_;
  KernelEntry entry_ = nullptr;
};

// Refuses processors below x86-64-v3: code is generated for that level everywhere, so that results do not depend on the
// host.
absl::Status CheckProcessor();

// Compiles and takes over the kernel's module. Errors: a device function that this program does not provide.
absl::StatusOr<std::unique_ptr<CompiledKernel>> CompileForHost(InstrumentedKernel& kernel);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CODE_JIT_H_
