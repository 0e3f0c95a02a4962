#include "tracegen/execute/code/kernel_code.h"

#include <utility>

#include "tracegen/execute/launch/launch_arguments.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {

absl::StatusOr<KernelCode> KernelCode::Make(const CanonicalModule& module, const KernelUnit& unit,
                                            const GlobalLayout& globals, const KernelForm& form) {
  KernelCode made;
  HEDDLE_ASSIGN_OR_RETURN(made.kernel, Instrument(module, unit, globals, form));
  HEDDLE_ASSIGN_OR_RETURN(made.code, CompileForHost(made.kernel));
  return made;
}

LaunchForm KernelCode::Launch(const std::string& parameters) const {
  return {&kernel, code->entry(), PlaceArguments(kernel, parameters)};
}

}  // namespace heddle::tracegen
