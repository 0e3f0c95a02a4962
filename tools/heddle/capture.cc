// `heddle capture`.
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/console/command.h"
#include "tools/console/terminal.h"
#include "tools/inputs/capture_program.h"

namespace heddle::tools {
namespace {

// Starts heddle-capture, the program that needs LLVM, with the same arguments in place of this process. It is beside
// this program or in libexec/heddle; a build without LLVM has none.
int StartCapture(const std::vector<std::string>& arguments) {
  const absl::StatusOr<std::string> program = CaptureProgram();
  if (!program.ok()) return ReportError(kFailed, program.status());
  std::vector<char*> argv = {const_cast<char*>(program->c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program->c_str(), argv.data());
  return ReportError(kFailed, *program + ": cannot be started: " + std::strerror(errno));
}

HEDDLE_COMMAND_GROUP(.name = "capture", .place = 1,
                     .summary =
                         "Record the kernels of a program, or one kernel from a recipe (see `heddle capture "
                         "--help`)",
                     .takes_words = StartCapture);

}  // namespace
}  // namespace heddle::tools
