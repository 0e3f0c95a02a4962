#include "tools/heddle/result_files.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;
using result::v1::Result;

constexpr uint32_t kSchema = 1;

absl::Status Refused(const std::string& path, size_t line, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ":", line, ": ", why));
}

absl::Status ReadFile(const std::string& path, std::vector<Result>& results) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    const absl::string_view text = absl::StripAsciiWhitespace(line);
    if (text.empty()) continue;
    Result result;
    if (const auto parsed = google::protobuf::util::JsonStringToMessage(
            google::protobuf::StringPiece(text.data(), text.size()), &result, options);
        !parsed.ok()) {
      const std::string why(parsed.message().data(), parsed.message().size());
      return Refused(path, number,
                     absl::StrCat("not a result of `heddle replay --json`: ", why.substr(0, why.find('\n'))));
    }
    if (result.schema() == 0) {
      return Refused(path, number, "not a result of `heddle replay --json`: it has no \"schema\"");
    }
    if (result.schema() != kSchema) {
      return Refused(path, number,
                     absl::StrCat("results of schema ", result.schema(), ", this heddle reads schema ", kSchema,
                                  "; run the replay again, or use the heddle that wrote them"));
    }
    results.push_back(std::move(result));
  }
  if (file.bad()) return absl::UnavailableError(absl::StrCat(path, ": reading failed"));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> FilesBelow(const std::string& folder) {
  const fs::path inner = fs::path(folder) / "results";
  std::error_code error;
  const fs::path root = fs::is_directory(inner, error) ? inner : fs::path(folder);
  std::vector<std::string> files;
  for (auto it = fs::recursive_directory_iterator(root, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    const std::string ending = it->path().extension().string();
    if (it->is_regular_file() && (ending == ".json" || ending == ".jsonl")) files.push_back(it->path().string());
  }
  if (error) return absl::NotFoundError(absl::StrCat(root.string(), ": ", error.message()));
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ResultFiles(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const absl::StatusOr<std::vector<std::string>> below = FilesBelow(path);
    if (!below.ok()) return below.status();
    files.insert(files.end(), below->begin(), below->end());
  }
  return files;
}

absl::StatusOr<std::vector<Result>> ReadResults(const std::vector<std::string>& paths) {
  const absl::StatusOr<std::vector<std::string>> files = ResultFiles(paths);
  if (!files.ok()) return files.status();
  std::vector<Result> results;
  for (const std::string& file : *files) {
    if (absl::Status status = ReadFile(file, results); !status.ok()) return status;
  }
  if (results.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(absl::StrJoin(paths, ", "), ": no results; `heddle replay TRACE -o results.jsonl` writes some"));
  }
  return results;
}

}  // namespace heddle::tools
