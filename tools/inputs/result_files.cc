#include "tools/inputs/result_files.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "traces/base/status_macros.h"
#include "traces/format/program/printable_records.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;
using result::v1::Result;

constexpr uint32_t kResultSchema = 1;
constexpr absl::string_view kFrameMagic = "\x28\xb5\x2f\xfd";  // that traces begin with
constexpr char kHowToGetResults[] = "`heddle replay TRACE -o results.jsonl` writes some";

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
    if (number == 1 && absl::StartsWith(text, kFrameMagic)) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": is a trace, not a result; `heddle replay ", path,
                                                     " -o results.jsonl` makes some of it"));
    }
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
    if (result.schema() != kResultSchema) {
      return Refused(path, number,
                     absl::StrCat("results of schema ", result.schema(), ", this heddle reads schema ", kResultSchema,
                                  "; run the replay again, or use the heddle that wrote them"));
    }
    trace::MakePrintable(result);
    results.push_back(std::move(result));
  }
  if (file.bad()) return absl::UnavailableError(absl::StrCat(path, ": reading failed"));
  return absl::OkStatus();
}

// The keys of a sweep's points; nothing if the folder has no list of points. The sweep's own reader of them
// (sweep/folder.h) stands above this one.
absl::StatusOr<std::optional<absl::flat_hash_set<std::string>>> PlannedKeys(const std::string& folder) {
  const std::string path = (fs::path(folder) / "points.jsonl").string();
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  absl::flat_hash_set<std::string> keys;
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("key") || !json["key"].is_string()) {
      return Refused(path, number, "is no point of a sweep; plan the sweep again");
    }
    keys.insert(json["key"].get<std::string>());
  }
  if (file.bad()) return absl::UnavailableError(absl::StrCat(path, ": reading failed"));
  return keys;
}

absl::Status AddFilesBelow(const std::string& folder, ResultFiles& found) {
  const fs::path inner = fs::path(folder) / "results";
  std::error_code error;
  const bool sweep = fs::is_directory(inner, error);
  const fs::path root = sweep ? inner : fs::path(folder);
  std::optional<absl::flat_hash_set<std::string>> planned;
  if (sweep) {
    HEDDLE_ASSIGN_OR_RETURN(std::optional<absl::flat_hash_set<std::string>> keys, PlannedKeys(folder));
    planned = std::move(keys);
  }
  std::vector<std::string> files;
  size_t left_out = 0;
  for (auto it = fs::recursive_directory_iterator(root, error); !error && it != fs::recursive_directory_iterator();
       it.increment(error)) {
    const std::string ending = it->path().extension().string();
    if (!it->is_regular_file() || (ending != ".json" && ending != ".jsonl")) continue;
    if (planned.has_value() && !planned->contains(it->path().stem().string())) {
      ++left_out;
    } else {
      files.push_back(it->path().string());
    }
  }
  if (error) return absl::NotFoundError(absl::StrCat(root.string(), ": ", error.message()));
  std::sort(files.begin(), files.end());
  found.files.insert(found.files.end(), files.begin(), files.end());
  if (left_out != 0) {
    found.notes.push_back(absl::StrCat(folder, ": left out ", left_out, left_out == 1 ? " result" : " results",
                                       " of points that are not in its plan"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ResultFiles> FindResults(const std::vector<std::string>& paths) {
  ResultFiles found;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      found.files.push_back(path);
    } else
      HEDDLE_RETURN_IF_ERROR(AddFilesBelow(path, found));
  }
  if (found.files.empty()) {
    const std::string left_out = absl::StrJoin(found.notes, "; ");
    return absl::InvalidArgumentError(
        left_out.empty() ? absl::StrCat(absl::StrJoin(paths, ", "), ": no results; ", kHowToGetResults)
                         : absl::StrCat(left_out, ", and there are no others; `heddle sweep run` makes them"));
  }
  return found;
}

absl::StatusOr<std::vector<Result>> ReadResultFiles(const std::vector<std::string>& files) {
  std::vector<Result> results;
  for (const std::string& file : files) {
    HEDDLE_RETURN_IF_ERROR(ReadFile(file, results));
  }
  if (results.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(absl::StrJoin(files, ", "), ": no results; ", kHowToGetResults));
  }
  return results;
}

absl::StatusOr<std::vector<Result>> ReadResults(const std::vector<std::string>& paths) {
  HEDDLE_ASSIGN_OR_RETURN(const ResultFiles found, FindResults(paths));
  return ReadResultFiles(found.files);
}

}  // namespace heddle::tools
