#include "replay/stats/sm_check.h"

#include "absl/strings/str_cat.h"

namespace heddle::replay {
namespace {

absl::Status Compare(const SmCounters& counters, const StallCounters& stalls) {
  if (stalls.port_cycles == counters.scheduler_cycles && stalls.issued == counters.issued &&
      stalls.structural == counters.stall) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat("the stall classes count ", stalls.port_cycles, " port cycles, ",
                                          stalls.issued, " issues and ", stalls.structural,
                                          " structural stalls, the scheduler cycles ", counters.scheduler_cycles, ", ",
                                          counters.issued, " and ", counters.stall));
}

}  // namespace

absl::Status CheckSm(size_t sm, Cycle end, const SmCounters& counters, const std::optional<StallCounters>& stalls) {
  absl::Status status = CheckSums(counters);
  if (status.ok() && stalls.has_value()) status = CheckSums(*stalls);
  if (status.ok() && stalls.has_value()) status = Compare(counters, *stalls);
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat("SM ", sm, ", when the launch ended in cycle ", end, ": ", status.message()));
}

}  // namespace heddle::replay
