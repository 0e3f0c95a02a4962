// How commands that exchange traces tell what came of it.
#ifndef HEDDLE_TOOLS_HEDDLE_EXCHANGE_TEXT_H_
#define HEDDLE_TOOLS_HEDDLE_EXCHANGE_TEXT_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"

namespace heddle::tools {

// Prints the error. The exit status is that of wrong usage if the command line named what is wrong or not there.
inline int ReportFailure(const absl::Status& status) {
  return ReportError(absl::IsInvalidArgument(status) || absl::IsNotFound(status) ? kWrongUsage : kFailed, status);
}

// Prints the text on standard output. Returns `status`, or the exit status of the failure.
inline int Print(const std::string& text, int status = kSuccess) {
  const absl::Status written = WriteStandardOutput(text);
  return written.ok() ? status : ReportError(kFailed, written);
}

// "1 launch", "2,000 launches".
inline std::string Count(uint64_t number, const char* one, const char* many) {
  return absl::StrCat(WithThousands(number), " ", number == 1 ? one : many);
}

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_HEDDLE_EXCHANGE_TEXT_H_
