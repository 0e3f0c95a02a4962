// A kernel's host code in one form.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CODE_KERNEL_CODE_H_
#define HEDDLE_TRACEGEN_EXECUTE_CODE_KERNEL_CODE_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "tracegen/execute/code/jit.h"
#include "tracegen/execute/launch/launch_form.h"
#include "tracegen/instrument/global_layout.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/program/static_program.h"

namespace heddle::tracegen {

struct KernelCode {
  InstrumentedKernel kernel;
  std::unique_ptr<CompiledKernel> code;  // null until it is made
  bool told_warnings = false;            // whether the user knows kernel.warnings

  // Makes it: see Instrument and CompileForHost, whose errors these are.
  static absl::StatusOr<KernelCode> Make(const CanonicalModule& module, const KernelUnit& unit,
                                         const GlobalLayout& globals, const KernelForm& form);
  // A launch of it. Puts the bytes of parameter memory where kernels read them.
  LaunchForm Launch(const std::string& parameters) const;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CODE_KERNEL_CODE_H_
