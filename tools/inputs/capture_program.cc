#include "tools/inputs/capture_program.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#ifndef HEDDLE_LIBEXEC_FROM_BIN
#define HEDDLE_LIBEXEC_FROM_BIN "../libexec/heddle"
#endif
#ifndef HEDDLE_BUILT_WITH_CAPTURE
#define HEDDLE_BUILT_WITH_CAPTURE 0
#endif

namespace heddle::tools {

absl::StatusOr<std::string> CaptureProgram() {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& folder : {here, (here / HEDDLE_LIBEXEC_FROM_BIN).lexically_normal()}) {
    std::string program = (folder / "heddle-capture").string();
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  if (HEDDLE_BUILT_WITH_CAPTURE != 0) {
    return absl::NotFoundError("heddle-capture is not beside " + (here / "heddle").string() + ", nor in " +
                               (here / HEDDLE_LIBEXEC_FROM_BIN).lexically_normal().string() +
                               ": install both with `cmake --install`, or link to heddle instead of copying it");
  }
  return absl::FailedPreconditionError(
      "this build of heddle has no capture, which needs LLVM 19: install it with `tools/install-packages "
      "capture`, then build again with `cmake --preset release && cmake --build --preset release`");
}

}  // namespace heddle::tools
