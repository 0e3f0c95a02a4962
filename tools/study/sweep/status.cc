#include "tools/study/sweep/status.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/console/table.h"
#include "tools/study/sweep/point_locks.h"
#include "traces/base/printable.h"
#include "traces/base/status_macros.h"

namespace heddle::tools::sweep {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRecent = 200;

std::optional<double> RateOf(std::vector<double> times) {
  if (times.size() < 2) return std::nullopt;
  const size_t count = std::min(times.size(), kRecent);
  std::partial_sort(times.begin(), times.begin() + static_cast<int64_t>(count), times.end(), std::greater<>());
  const double span = times[0] - times[count - 1];
  if (span <= 0) return std::nullopt;
  return static_cast<double>(count - 1) / span;
}

std::string Duration(double seconds) {
  if (seconds < 120) return absl::StrCat(std::llround(seconds), " s");
  if (seconds < 7200) return absl::StrCat(std::llround(seconds / 60), " min");
  return absl::StrCat(Decimal(seconds / 3600, 1), " h");
}

uint64_t UnfinishedFiles(const std::string& path) {
  uint64_t count = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    count += it->path().filename().string().starts_with('.');
  }
  return count;
}

}  // namespace

absl::StatusOr<SweepStatus> StatusOf(const SweepFolder& folder) {
  const absl::StatusOr<std::vector<NumberedPoint>> points = folder.Points(NumberRanges());
  if (!points.ok()) return points.status();
  HEDDLE_ASSIGN_OR_RETURN(const auto results, folder.Results());
  HEDDLE_ASSIGN_OR_RETURN(const auto failures, folder.Failures());
  // Without the right to write nobody's locks can be seen; nor can a sweep that never ran have any.
  const absl::StatusOr<PointLocks> locks = PointLocks::Open(folder.LockFile());

  SweepStatus status;
  status.points = points->size();
  std::map<std::string, SweepStatus::Reason> reasons;
  std::vector<double> times;
  for (const auto& [number, point] : *points) {
    if (results.contains(point.key)) {
      ++status.done;
      struct stat info;
      if (stat(folder.ResultFile(point.key).c_str(), &info) == 0) {
        times.push_back(static_cast<double>(info.st_mtim.tv_sec) + static_cast<double>(info.st_mtim.tv_nsec) * 1e-9);
      }
    } else if (locks.ok() && locks->IsBusy(point.key)) {
      ++status.running;
    } else if (failures.contains(point.key)) {
      ++status.failed;
      HEDDLE_ASSIGN_OR_RETURN(std::string reason, folder.FailureReason(point.key));
      SweepStatus::Reason& entry = reasons[reason];
      if (entry.points++ == 0) entry = {std::move(reason), 1, number};
    } else {
      ++status.waiting;
    }
  }
  for (auto& [text, reason] : reasons) status.reasons.push_back(std::move(reason));
  std::ranges::stable_sort(status.reasons, std::greater<>(), &SweepStatus::Reason::points);
  status.rate = RateOf(std::move(times));
  status.unfinished_files = UnfinishedFiles(folder.path() + "/results") + UnfinishedFiles(folder.path() + "/failed");
  return status;
}

std::string StatusText(const Plan& plan, const SweepStatus& status) {
  std::string text =
      absl::StrCat("Sweep ", Printable(plan.name), ", ", WithThousands(status.points),
                   status.points == 1 ? " point, model " : " points, model ", Printable(plan.model_version), "\n");
  absl::StrAppend(&text, "  done     ", WithThousands(status.done), "\n  failed   ", WithThousands(status.failed),
                  "\n  running  ", WithThousands(status.running), "\n  waiting  ", WithThousands(status.waiting), "\n");
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < status.reasons.size() && i < kShown; ++i) {
    const SweepStatus::Reason& reason = status.reasons[i];
    absl::StrAppend(&text, i == 0 ? "Failures:\n" : "", "  ", WithThousands(reason.points),
                    reason.points == 1 ? " point" : " points", " (", reason.example, reason.points == 1 ? "" : ", ...",
                    "): ", absl::StrReplaceAll(reason.reason, {{"\n", "\n    "}}), "\n");
  }
  if (status.reasons.size() > kShown) {
    absl::StrAppend(&text, "  and ", status.reasons.size() - kShown, " more reasons in failed/\n");
  }
  const uint64_t left = status.running + status.waiting;
  if (left != 0 && status.rate.has_value()) {
    absl::StrAppend(&text, "About ", Duration(static_cast<double>(left) / *status.rate),
                    " to go, at the rate of the last results (", Decimal(*status.rate, 1), " per second)\n");
  } else if (left != 0) {
    absl::StrAppend(&text, "No rate yet: fewer than two results\n");
  }
  return text;
}

nlohmann::ordered_json StatusJson(const Plan& plan, const SweepStatus& status) {
  nlohmann::ordered_json json = {{"schema", 1},
                                 {"name", plan.name},
                                 {"model_version", plan.model_version},
                                 {"points", status.points},
                                 {"done", status.done},
                                 {"failed", status.failed},
                                 {"running", status.running},
                                 {"waiting", status.waiting},
                                 {"unfinished_files", status.unfinished_files},
                                 {"reasons", nlohmann::ordered_json::array()}};
  for (const SweepStatus::Reason& reason : status.reasons) {
    json["reasons"].push_back({{"reason", reason.reason}, {"points", reason.points}, {"example", reason.example}});
  }
  if (status.rate.has_value()) json["results_per_second"] = *status.rate;
  return json;
}

}  // namespace heddle::tools::sweep
