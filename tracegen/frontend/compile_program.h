// The device code of a CUDA source file as programs are built from it: with host code, headers and options.
#ifndef HEDDLE_TRACEGEN_FRONTEND_COMPILE_PROGRAM_H_
#define HEDDLE_TRACEGEN_FRONTEND_COMPILE_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/frontend/compile.h"

namespace heddle::tracegen {

// Runs heddle-nvcc, which lies beside the running program, with `options` over the source `path`. Errors: no such file,
// no heddle-nvcc, and the first message of a source that does not compile.
absl::StatusOr<DeviceModule> CompileProgramSource(const std::string& path, const std::vector<std::string>& options);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_COMPILE_PROGRAM_H_
