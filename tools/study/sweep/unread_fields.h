// Settings of a study that change nothing, because the machine does not read the field or the policy the parameter.
#ifndef HEDDLE_TOOLS_STUDY_SWEEP_UNREAD_FIELDS_H_
#define HEDDLE_TOOLS_STUDY_SWEEP_UNREAD_FIELDS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/machine.pb.h"
#include "replay/engine/configuration.h"

namespace heddle::tools::sweep {

class UnreadFields {
 public:
  // A machine to which all of these assignments have been applied.
  void Add(const std::string& name, const machine::v1::Machine& machine, const std::vector<std::string>& assignments);

  // Policies that may be together in a run.
  template <typename Registry>
  void AddPolicies(const std::vector<replay::ChosenPolicy<Registry>>& policies) {
    for (const auto& policy : policies) {
      AddParameters(absl::StrCat(Registry::kSeam, " ", policy.name()), policy.info(), policy.parameters,
                    policy.written.parameters);
    }
  }

  // One sentence for each assignment that changes nothing on a machine or in a policy, whatever else is set with it.
  std::vector<std::string> Notes() const;

 private:
  void Add(const std::string& name, const std::string& assignment, const std::string& why);
  // `text` is what `parameters` were parsed from.
  void AddParameters(const std::string& name, const replay::PolicyInfo& info, const replay::Parameters& parameters,
                     const std::string& text);

  // By machine or policy, and assignment: why nothing changes; empty if something does in one of the settings.
  std::map<std::pair<std::string, std::string>, std::string> why_;
};

}  // namespace heddle::tools::sweep

#endif  // HEDDLE_TOOLS_STUDY_SWEEP_UNREAD_FIELDS_H_
