// How far a sweep is.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_STATUS_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_STATUS_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/study/sweep/folder.h"

namespace heddle::tools::sweep {

struct SweepStatus {
  uint64_t points = 0;
  uint64_t done = 0;
  uint64_t failed = 0;
  uint64_t running = 0;           // a process has them now
  uint64_t waiting = 0;           // the rest
  uint64_t unfinished_files = 0;  // temporary files of processes that were killed, or that write now
  // Reasons of the failures, the most frequent first, with one of the points each.
  struct Reason {
    std::string reason;
    uint64_t points = 0;
    uint64_t example = 0;
  };
  std::vector<Reason> reasons;
  // Results per second over the last 200 (or all) results, by the times of their files; absent with fewer than two.
  std::optional<double> rate;
};

absl::StatusOr<SweepStatus> StatusOf(const SweepFolder& folder);

std::string StatusText(const Plan& plan, const SweepStatus& status);
nlohmann::ordered_json StatusJson(const Plan& plan, const SweepStatus& status);

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_STATUS_H_
