// The first rule that a divergence policy has broken on one SM, or limit that it has exceeded.
#ifndef HEDDLE_REPLAY_WARPS_POLICY_FAILURE_H_
#define HEDDLE_REPLAY_WARPS_POLICY_FAILURE_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "replay/seams/types.h"

namespace heddle::replay {

class PolicyFailure {
 public:
  // `error_flag`, if there is one, is set by the first failure; it must outlive this.
  PolicyFailure(std::string policy_name, bool* error_flag)
      : policy_name_(std::move(policy_name)), error_flag_(error_flag) {}

  // A broken rule: an internal error. `slot`: of which slot, or kNoSlot.
  void Fail(std::string_view operation, SlotId slot, Cycle now, std::string_view what);
  // The run needs more than a parameter of the policy allows: a refusal (FailedPrecondition).
  void ReportLimitExceeded(Cycle now, std::string_view what);

  bool failed() const { return !status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  const std::string policy_name_;
  bool* const error_flag_;
  absl::Status status_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_WARPS_POLICY_FAILURE_H_
