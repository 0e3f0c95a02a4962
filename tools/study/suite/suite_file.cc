#include "tools/study/suite/suite_file.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/study/sweep/folder.h"
#include "traces/base/proto_text.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

#ifndef HEDDLE_SOURCE_SUITES_DIR
#define HEDDLE_SOURCE_SUITES_DIR "."
#define HEDDLE_INSTALLED_SUITES_DIR "."
#endif

namespace heddle::tools::suite {
namespace {

namespace fs = std::filesystem;
using ::heddle::suite::v1::Suite;

constexpr char kEnding[] = ".textproto";
constexpr uint64_t kMostBytes = 16 << 20;  // a suite of a hundred programs has some 100 kB

}  // namespace

std::string SuitesFolder() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path installed = (here / HEDDLE_INSTALLED_SUITES_DIR).lexically_normal();
  return (fs::is_directory(installed, error) ? installed : fs::path(HEDDLE_SOURCE_SUITES_DIR)).string();
}

std::vector<std::string> SuitesIn(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == kEnding) paths.push_back(it->path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

absl::StatusOr<Suite> ParseSuite(const std::string& name) {
  std::string path = name;
  if (!name.ends_with(kEnding)) {
    std::vector<std::string> known;
    for (const std::string& file : SuitesIn(SuitesFolder())) known.push_back(fs::path(file).stem().string());
    if (std::ranges::find(known, name) == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat(UnknownNameMessage("suite", name, known), "; a file of your own ends in ", kEnding));
    }
    path = (fs::path(SuitesFolder()) / (name + kEnding)).string();
  }
  std::error_code error;
  if (const uint64_t bytes = fs::file_size(path, error); !error && bytes > kMostBytes) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has ", bytes, " bytes, which no suite has"));
  }
  HEDDLE_ASSIGN_OR_RETURN(const std::string text, sweep::ReadWholeFile(path));
  Suite suite;
  if (const absl::Status status = ParseProtoText(text, suite); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  }
  return suite;
}

absl::StatusOr<Suite> ReadSuite(const std::string& name) {
  HEDDLE_ASSIGN_OR_RETURN(Suite suite, ParseSuite(name));
  std::vector<std::string> broken = BrokenRules(suite);
  if (broken.empty()) return suite;
  const size_t more = broken.size() > 3 ? broken.size() - 3 : 0;
  broken.resize(broken.size() - more);
  return absl::InvalidArgumentError(absl::StrCat(name, ": ", absl::StrJoin(broken, "; "),
                                                 more > 0 ? absl::StrCat("; and ", more, " more") : "",
                                                 "; `heddle suite check` lists what is wrong"));
}

}  // namespace heddle::tools::suite
