#include "tracegen/frontend/run_clang.h"

#include <fstream>
#include <optional>
#include <sstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "llvm/Support/Program.h"
#include "traces/base/status_macros.h"

namespace heddle::tracegen {
namespace {

absl::StatusOr<std::string> FindClang() {
  for (const char* name : {"clang-19", "/usr/lib/llvm-19/bin/clang"}) {
    if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName(name)) return *found;
  }
  return absl::FailedPreconditionError(
      "clang 19 is not installed: install the package clang-19 (apt-get install clang-19)");
}

}  // namespace

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string FirstCompilerError(const std::string& messages) {
  for (absl::string_view line : absl::StrSplit(messages, '\n')) {
    for (absl::string_view mark : {": fatal error: ", ": error: "}) {
      const size_t at = line.find(mark);
      if (at == absl::string_view::npos) continue;
      absl::string_view place = line.substr(0, at);
      if (const size_t column = place.rfind(':');
          column != absl::string_view::npos && column > 0 && place.rfind(':', column - 1) != absl::string_view::npos) {
        place = place.substr(0, column);
      }
      return absl::StrCat(place, ": ", line.substr(at + mark.size()));
    }
  }
  for (absl::string_view line : absl::StrSplit(messages, '\n')) {
    if (!line.empty()) return std::string(line);
  }
  return "clang failed without a message";
}

absl::StatusOr<ClangResult> RunClang(const std::vector<std::string>& arguments, const TemporaryDirectory& directory,
                                     const ClangLimits& limits) {
  HEDDLE_ASSIGN_OR_RETURN(std::string clang, FindClang());
  const std::string messages = directory.File("messages");
  std::vector<llvm::StringRef> command = {"clang-19"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::string failure;
  const int status = llvm::sys::ExecuteAndWait(
      clang, command, std::nullopt, {llvm::StringRef(), llvm::StringRef(messages), llvm::StringRef(messages)},
      limits.seconds, limits.megabytes, &failure);
  constexpr int kEndedBySignal = -2;  // at the end of its time, too
  if (status == kEndedBySignal && limits.seconds + limits.megabytes != 0) {
    return ClangResult{false,
                       absl::StrCat(ReadText(messages), "error: the compiler was ended: the source takes more than ",
                                    limits.seconds, " seconds or ", limits.megabytes, " MiB of memory\n")};
  }
  if (status < 0) return absl::InternalError(absl::StrCat("cannot run ", clang, ": ", failure));
  return ClangResult{status == 0, ReadText(messages)};
}

}  // namespace heddle::tracegen
