#include "tools/inputs/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tools/console/terminal.h"
#include "traces/base/suggest.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;

// ` (did you mean "x.htrace"?)`, or empty.
std::string NearestTrace(const std::string& path) {
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code dangling;
    if (it->path().extension() == ".htrace" && fs::exists(it->path(), dangling))
      names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::string nearest = NearestName(wanted.filename().string(), names);
  if (nearest.empty()) return "";
  return absl::StrCat(" (did you mean \"", (wanted.parent_path() / nearest).string(), "\"?)");
}

// What a file is that was taken for a trace and is something else of ours, and what to do with it; or empty.
std::string OtherKindOfFile(const std::string& path) {
  char start[1 << 12] = {};
  std::ifstream file(path, std::ios::binary);
  file.read(start, sizeof(start));
  const absl::string_view text(start, static_cast<size_t>(file.gcount()));
  if (absl::StartsWith(text, "{") && absl::StrContains(text, "\"heddle_version\"")) {
    return "is a result of `heddle replay`, not a trace; `heddle report` shows it";
  }
  if (absl::StartsWith(text, "\177ELF")) {
    return "is a program, not a trace; `heddle capture -o TRACE -- PROGRAM` records one of it";
  }
  if (absl::StartsWith(text, "-kernel name")) {
    return "is a trace of Accel-Sim; `heddle trace import --accelsim FOLDER -o TRACE` makes one of ours of it";
  }
  return "";
}

}  // namespace

absl::StatusOr<std::unique_ptr<trace::TraceReader>> OpenTrace(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    return absl::NotFoundError(absl::StrCat(path, ": ", strerror(errno), NearestTrace(path)));
  }
  if (S_ISDIR(info.st_mode)) return absl::NotFoundError(absl::StrCat(path, ": is a folder, not a trace"));
  if (access(path.c_str(), R_OK) != 0) return absl::NotFoundError(absl::StrCat(path, ": ", strerror(errno)));
  absl::StatusOr<std::unique_ptr<trace::TraceReader>> reader = trace::TraceReader::Open(path);
  // Whatever the reader calls it: the file is there, so it is the trace that is wrong.
  if (!reader.ok()) {
    const std::string other = S_ISREG(info.st_mode) ? OtherKindOfFile(path) : "";  // a pipe would be waited for
    return absl::DataLossError(other.empty() ? reader.status().message() : absl::StrCat(path, ": ", other));
  }
  return reader;
}

int TraceErrorStatus(const absl::Status& status) { return absl::IsNotFound(status) ? kWrongUsage : kFailed; }

}  // namespace heddle::tools
