#include "replay/warps/policy_failure.h"

#include "absl/strings/str_cat.h"

namespace heddle::replay {

void PolicyFailure::Fail(std::string_view operation, SlotId slot, Cycle now, std::string_view what) {
  if (failed()) return;
  if (error_flag_ != nullptr) *error_flag_ = true;
  std::string message =
      absl::StrCat("internal error: divergence policy '", policy_name_, "': ", std::string(operation));
  if (slot != kNoSlot) absl::StrAppend(&message, " of slot ", slot);
  absl::StrAppend(&message, " in cycle ", now, ": ", std::string(what));
  status_ = absl::InternalError(message);
}

void PolicyFailure::ReportLimitExceeded(Cycle now, std::string_view what) {
  if (failed()) return;
  if (error_flag_ != nullptr) *error_flag_ = true;
  status_ = absl::FailedPreconditionError(
      absl::StrCat("divergence policy '", policy_name_, "' met a limit in cycle ", now, ": ", std::string(what)));
}

}  // namespace heddle::replay
