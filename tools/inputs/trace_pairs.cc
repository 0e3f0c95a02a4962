#include "tools/inputs/trace_pairs.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "traces/base/status_macros.h"

namespace heddle::tools {
namespace {

namespace fs = std::filesystem;

constexpr char kEnding[] = ".htrace";

absl::StatusOr<std::set<std::string>> TracesBelow(const std::string& folder) {
  std::set<std::string> names;
  std::error_code error;
  const fs::recursive_directory_iterator end;
  for (fs::recursive_directory_iterator at(folder, error); !error && at != end; at.increment(error)) {
    std::error_code none;
    if (at->path().extension() != kEnding || !at->is_regular_file(none)) continue;
    names.insert(at->path().lexically_relative(folder).replace_extension().string());
  }
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": cannot be read: ", error.message()));
  return names;
}

}  // namespace

absl::StatusOr<TracePairs> PairTraces(const std::string& folder_a, const std::string& folder_b) {
  HEDDLE_ASSIGN_OR_RETURN(const std::set<std::string> a, TracesBelow(folder_a));
  HEDDLE_ASSIGN_OR_RETURN(const std::set<std::string> b, TracesBelow(folder_b));
  TracePairs pairs;
  std::ranges::set_difference(a, b, std::back_inserter(pairs.only_a));
  std::ranges::set_difference(b, a, std::back_inserter(pairs.only_b));
  for (const std::string& name : a) {
    if (!b.contains(name)) continue;
    const auto file = [&](const std::string& folder) { return (fs::path(folder) / (name + kEnding)).string(); };
    pairs.both.push_back({name, file(folder_a), file(folder_b)});
  }
  if (pairs.both.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(folder_a, " (", a.size(), " traces) and ", folder_b, " (", b.size(),
                                                   " traces) have no trace of one name: give both recordings of a "
                                                   "program the same file name"));
  }
  return pairs;
}

}  // namespace heddle::tools
