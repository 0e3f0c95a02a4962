// Programs of the vendor's toolkit: found, run, and waited for.
#ifndef HEDDLE_TRACEGEN_MACHINE_TOOLCHAIN_RUN_PROGRAM_H_
#define HEDDLE_TRACEGEN_MACHINE_TOOLCHAIN_RUN_PROGRAM_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::tracegen::machine {

struct ToolchainLimits {
  unsigned seconds = 600;         // of one run; then the program is stopped
  unsigned memory_megabytes = 0;  // of one run; 0 = no limit
};

struct ProgramRun {
  std::string name;  // of the program, for messages
  std::string program;
  std::vector<std::string> arguments = {};
  std::string output = {};    // standard output goes to this file; empty: to nowhere
  std::string messages = {};  // and standard error to this one
};

// The programs of that name that users may mean, best first: in the folders of the PATH, then in the bin folders of
// CUDA_HOME, CUDA_PATH and /usr/local/cuda. Only files that can be run.
std::vector<std::string> ProgramsNamed(const std::string& name);

// How a run ended: its exit status. Errors: it cannot be run; it crashed, or did not end within the limit.
absl::StatusOr<int> RunProgram(const ProgramRun& run, const ToolchainLimits& limits);

// A file that a program wrote. Errors: there is none; it has more than 2 GiB.
absl::StatusOr<std::string> ReadOutput(const std::string& path);

// Errors: a full disk.
absl::Status WriteInput(const std::string& path, std::string_view contents);

}  // namespace heddle::tracegen::machine

#endif  // HEDDLE_TRACEGEN_MACHINE_TOOLCHAIN_RUN_PROGRAM_H_
