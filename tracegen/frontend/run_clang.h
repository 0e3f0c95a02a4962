// Clang as a process of its own: a compiler that crashes takes nothing with it.
#ifndef HEDDLE_TRACEGEN_FRONTEND_RUN_CLANG_H_
#define HEDDLE_TRACEGEN_FRONTEND_RUN_CLANG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/scratch/temporary_directory.h"

namespace heddle::tracegen {

// What a compilation may take at most; 0 = whatever it needs.
struct ClangLimits {
  unsigned seconds = 0;
  unsigned megabytes = 0;  // MiB of memory
};

struct ClangResult {
  bool ok = false;       // it has made its output
  std::string messages;  // all of them
};

// Runs clang 19 with `arguments`; `directory` takes its messages. A compilation that takes more than `limits` has
// failed, and its messages end with a line that says so. Errors: clang is not installed or cannot be started.
absl::StatusOr<ClangResult> RunClang(const std::vector<std::string>& arguments, const TemporaryDirectory& directory,
                                     const ClangLimits& limits = {});

// Of a compiler's messages the first "FILE:LINE:COLUMN: error: MESSAGE" as "FILE:LINE: MESSAGE", or the first line.
std::string FirstCompilerError(const std::string& messages);

// The contents of a file; empty if it cannot be read.
std::string ReadText(const std::string& path);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_FRONTEND_RUN_CLANG_H_
