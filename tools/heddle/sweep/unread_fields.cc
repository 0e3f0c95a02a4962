#include "tools/heddle/sweep/unread_fields.h"

#include "absl/strings/str_cat.h"
#include "replay/engine/machine.h"

namespace heddle::tools::sweep {

void UnreadFields::Add(const std::string& name, const machine::v1::Machine& machine,
                       const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    const std::string why = replay::WithoutEffect(machine, assignment);
    const auto [known, added] = why_.try_emplace({name, assignment}, why);
    if (!added && why.empty()) known->second.clear();
  }
}

std::vector<std::string> UnreadFields::Notes() const {
  std::vector<std::string> notes;
  for (const auto& [setting, why] : why_) {
    if (!why.empty()) notes.push_back(absl::StrCat("machine ", setting.first, ": ", why));
  }
  return notes;
}

}  // namespace heddle::tools::sweep
