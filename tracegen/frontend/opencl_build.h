// OpenCL C source of a program to device bitcode, as clBuildProgram and clCompileProgram ask for it.
#ifndef HEDDLE_TRACEGEN_FRONTEND_OPENCL_BUILD_H_
#define HEDDLE_TRACEGEN_FRONTEND_OPENCL_BUILD_H_

#include <string>

#include "absl/status/statusor.h"
#include "tracegen/runtime/protocol/messages.h"

namespace heddle::tracegen {

struct OpenClBinary {
  std::string bitcode;
  device::ModuleOptions options;
};

// Compiles with clang, in a process of its own. `number` counts the programs of a run from 1 and makes their names
// ("program.cl", "program2.cl") in traces and messages. Clang's messages are appended to `log`, also on failure.
// Options of other vendors are ignored with a line in the log; unknown ones are errors, as the standard demands
// (OpenCL 1.2, section 5.6.4). Errors: clang is not installed, the source has errors (the first of them).
absl::StatusOr<OpenClBinary> CompileOpenCl(const device::BuildOpenClRequest& request, uint64_t number,
                                           std::string* log);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_OPENCL_BUILD_H_
