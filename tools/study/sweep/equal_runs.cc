#include "tools/study/sweep/equal_runs.h"

#include "absl/strings/str_cat.h"
#include "replay/engine/same_runs.h"
#include "replay/machine/machine.h"
#include "tools/console/table.h"
#include "tools/study/sweep/point.h"

namespace heddle::tools::sweep {
namespace {

// The machine with those settings that are read; as it is, if they do not go alone.
machine::v1::Machine Effective(const machine::v1::Machine& base, const machine::v1::Machine& machine,
                               const std::vector<std::string>& set) {
  machine::v1::Machine effective = base;
  for (const std::string& assignment : set) {
    if (!replay::WithoutEffect(machine, assignment).empty()) continue;
    if (!replay::Override(effective, assignment).ok()) return machine;
  }
  return effective;
}

}  // namespace

void EqualRuns::Add(const std::string& scope, const std::string& name, const machine::v1::Machine& base,
                    const machine::v1::Machine& machine, const std::vector<std::string>& set,
                    const replay::CheckedConfiguration& configuration) {
  const replay::RunMeaning meaning = replay::MeaningOf(configuration, machine);
  for (const std::string& reason : meaning.reasons) {
    reasons_.insert(absl::StrCat("on machine ", machine.name(), " ", reason));
  }
  ++runs_;
  const auto [known, added] =
      first_.emplace(absl::StrCat(scope, "\n", MachineDigest(Effective(base, machine, set)), "\n", meaning.text), name);
  if (added) return;
  if (equal_++ == 0) example_ = absl::StrCat(name, " and ", known->second);
}

std::vector<std::string> EqualRuns::Notes(uint64_t replays) const {
  std::vector<std::string> notes(reasons_.begin(), reasons_.end());
  if (equal_ != 0) {
    notes.push_back(absl::StrCat(WithThousands(equal_ * replays), " of ", WithThousands(runs_ * replays),
                                 " replays are the same as another one", equal_ == 1 ? ": " : ", such as ", example_));
  }
  return notes;
}

}  // namespace heddle::tools::sweep
