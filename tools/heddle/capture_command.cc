#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/console/terminal.h"
#include "tools/heddle/commands.h"
#include "tools/inputs/capture_program.h"

namespace heddle::tools {

int CaptureCommand(const std::vector<std::string>& arguments) {
  const absl::StatusOr<std::string> program = CaptureProgram();
  if (!program.ok()) return ReportError(kFailed, program.status());
  std::vector<char*> argv = {const_cast<char*>(program->c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program->c_str(), argv.data());
  return ReportError(kFailed, *program + ": cannot be started: " + std::strerror(errno));
}

}  // namespace heddle::tools
