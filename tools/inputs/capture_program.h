// heddle-capture, which needs LLVM and is a program of its own.
#ifndef HEDDLE_TOOLS_INPUTS_CAPTURE_PROGRAM_H_
#define HEDDLE_TOOLS_INPUTS_CAPTURE_PROGRAM_H_

#include <string>

#include "absl/status/statusor.h"

namespace heddle::tools {

// Its path, or why there is none and what to do.
absl::StatusOr<std::string> CaptureProgram();

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_INPUTS_CAPTURE_PROGRAM_H_
