#include "replay/seams/policy_registry.h"

#include "absl/strings/str_cat.h"
#include "replay/seams/policy_error.h"
#include "traces/base/suggest.h"

namespace heddle::replay {

absl::Status UnknownPolicyError(std::string_view kind, std::string_view name, const std::vector<std::string>& known) {
  return absl::InvalidArgumentError(UnknownNameMessage(kind, name, known));
}

void StopOnDuplicatePolicy(const std::string& name) {
  throw PolicyError(absl::StrCat("two files register the policy name \"", name, "\""));
}

void StopOnNoPolicy(const std::string& name) {
  throw PolicyError(absl::StrCat("the factory of policy ", name, " returned null"));
}

}  // namespace heddle::replay
