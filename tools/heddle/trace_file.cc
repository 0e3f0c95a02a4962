#include "tools/heddle/trace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "replay/engine/suggest.h"
#include "tools/heddle/terminal.h"

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
  const std::string nearest = replay::NearestName(wanted.filename().string(), names);
  if (nearest.empty()) return "";
  return absl::StrCat(" (did you mean \"", (wanted.parent_path() / nearest).string(), "\"?)");
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
  if (!reader.ok()) return absl::DataLossError(reader.status().message());
  return reader;
}

int TraceErrorStatus(const absl::Status& status) { return absl::IsNotFound(status) ? kWrongUsage : kFailed; }

}  // namespace heddle::tools
