#include "tools/study/sweep/unread_fields.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "replay/machine/machine.h"

namespace heddle::tools::sweep {

void UnreadFields::Add(const std::string& name, const machine::v1::Machine& machine,
                       const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    Add(absl::StrCat("machine ", name), assignment, replay::WithoutEffect(machine, assignment));
  }
}

void UnreadFields::AddParameters(const std::string& name, const replay::PolicyInfo& info,
                                 const replay::Parameters& parameters, const std::string& text) {
  if (text.empty()) return;
  for (const std::string& assignment : std::vector<std::string>(absl::StrSplit(text, ','))) {
    Add(name, assignment, replay::WithoutEffect(info, parameters, assignment));
  }
}

void UnreadFields::Add(const std::string& name, const std::string& assignment, const std::string& why) {
  const auto [known, added] = why_.try_emplace({name, assignment}, why);
  if (!added && why.empty()) known->second.clear();
}

std::vector<std::string> UnreadFields::Notes() const {
  std::vector<std::string> notes;
  for (const auto& [setting, why] : why_) {
    if (!why.empty()) notes.push_back(absl::StrCat(setting.first, ": ", why));
  }
  return notes;
}

}  // namespace heddle::tools::sweep
