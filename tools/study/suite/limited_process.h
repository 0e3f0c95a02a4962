// Programs of others, with limits.
#ifndef HEDDLE_TOOLS_STUDY_SUITE_LIMITED_PROCESS_H_
#define HEDDLE_TOOLS_STUDY_SUITE_LIMITED_PROCESS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace heddle::tools::suite {

// What a program may use. All processes that it starts count, unless they leave its session on purpose.
struct ProcessLimits {
  double seconds = 600;  // of wall time
  uint64_t memory_bytes = uint64_t{8} << 30;
  uint64_t disk_bytes = uint64_t{4} << 30;  // of `disk_folder`
  uint64_t log_bytes = 16 << 20;            // of standard output and standard error, each
};

struct ProcessRequest {
  std::vector<std::string> words;        // the program, looked up on PATH of `environment`, and its arguments
  std::vector<std::string> environment;  // NAME=VALUE; nothing else is there
  std::string folder;                    // it starts in
  std::string input = "/dev/null";
  std::string output;  // files for what it prints
  std::string errors;
  std::string disk_folder;  // empty = not watched
  ProcessLimits limits;
  // Asked some times a second; true ends the program.
  std::function<bool()> stop = [] { return false; };
};

struct ProcessResult {
  enum class End { kExit, kSignal, kTime, kMemory, kDisk, kLog, kStopped };
  End end = End::kExit;
  int status = 0;  // exit status, or number of the signal
  double seconds = 0;
  uint64_t most_memory = 0;  // [bytes] at the moments that were looked at
  bool ok() const { return end == End::kExit && status == 0; }
  // "exit status 2", "did not end within 600 s".
  std::string Text(const ProcessLimits& limits) const;
};

// Starts the program in a session of its own, without a shell, and waits for it. When it has ended, or is over a limit,
// everything that is left of its session is killed. An error only if it cannot be started or watched.
absl::StatusOr<ProcessResult> RunLimited(const ProcessRequest& request);

}  // namespace heddle::tools::suite

#endif  // HEDDLE_TOOLS_STUDY_SUITE_LIMITED_PROCESS_H_
