// Runs the application that is traced.
#ifndef HEDDLE_TOOLS_CAPTURE_RUN_PROGRAM_H_
#define HEDDLE_TOOLS_CAPTURE_RUN_PROGRAM_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace heddle::tracegen {

// How a program ended.
struct ProgramEnd {
  int status = 0;  // its exit status; 128 + signal if a signal ended it
  int signal = 0;  // 0 = none
};

// Runs `program` (looked for in PATH) with `environment` added to this process's environment, on this process's
// terminal and files, and waits for it. Signals that ask this process to end are passed on; Ctrl-C reaches the program
// by itself. NotFound or Unavailable: it cannot be started, and why.
absl::StatusOr<ProgramEnd> RunProgram(const std::vector<std::string>& program,
                                      const std::map<std::string, std::string>& environment);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TOOLS_CAPTURE_RUN_PROGRAM_H_
