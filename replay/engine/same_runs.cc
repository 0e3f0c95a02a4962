#include "replay/engine/same_runs.h"

#include <google/protobuf/util/message_differencer.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"

namespace heddle::replay {
namespace {

using google::protobuf::util::MessageDifferencer;

// Whether the machine's field has that value: "core.ibuffer.fetch_when=EMPTY".
bool Holds(const machine::v1::Machine& machine, const std::string& assignment) {
  machine::v1::Machine with = machine;
  return Override(with, assignment).ok() && MessageDifferencer::Equals(with, machine);
}

template <typename Registry>
void AddMeaning(const ChosenPolicy<Registry>& policy, const machine::v1::Machine& machine, RunMeaning& meaning) {
  const char* const kind = Registry::kKind;
  const PolicyInfo& info = policy.info();
  const PolicyInfo* same = nullptr;
  for (const SamePolicy& declared : info.same_as) {
    const auto other = Registry::Get().Find(declared.policy);
    if (!other.ok() || !Holds(machine, declared.machine)) continue;
    same = &(*other)->info;
    meaning.reasons.push_back(
        absl::StrCat(kind, " ", info.name, " decides as ", same->name, " does: ", declared.machine));
    break;
  }
  absl::StrAppend(&meaning.text, kind, " ", same == nullptr ? info.name : same->name);
  for (const ParameterSpec& parameter : (same == nullptr ? info : *same).parameters) {
    // What the other policy has and this one lacks is as it is by default.
    const bool has = info.Find(parameter.name) != nullptr;
    if (same == nullptr && !IsRead(info, parameter, policy.parameters)) continue;
    absl::StrAppend(&meaning.text, ",", parameter.name, "=",
                    has ? policy.parameters.Text(parameter.name) : parameter.default_value);
  }
  absl::StrAppend(&meaning.text, "\n");
}

}  // namespace

RunMeaning MeaningOf(const CheckedConfiguration& configuration, const machine::v1::Machine& machine) {
  RunMeaning meaning;
  AddMeaning(configuration.divergence, machine, meaning);
  AddMeaning(configuration.scheduler, machine, meaning);
  AddMeaning(configuration.dispatch, machine, meaning);
  if (machine.core().front_end() == machine::v1::Core::IBUFFER) {
    AddMeaning(configuration.fetch, machine, meaning);
  }
  if (HasDataCache(machine)) AddMeaning(configuration.memory, machine, meaning);
  absl::StrAppend(&meaning.text, "seed ", configuration.seed, "\n");
  return meaning;
}

bool HaveSameCounters(const result::v1::Result& a, const result::v1::Result& b) {
  if (a.launch_size() != b.launch_size() || a.total().cycles() != b.total().cycles()) return false;
  const auto without = [](const result::v1::LaunchResult& launch) {
    result::v1::LaunchResult rest = launch;
    rest.clear_divergence_counter();
    rest.clear_scheduler_counter();
    rest.clear_dispatch_counter();
    rest.clear_fetch_counter();
    rest.clear_without_scoreboard();
    if (rest.has_time_series()) rest.mutable_time_series()->clear_policy();
    rest.clear_memory_counter();
    rest.clear_memory_policy();
    return rest;
  };
  for (int i = 0; i < a.launch_size(); ++i) {
    if (a.launch(i).cycles() != b.launch(i).cycles()) return false;
  }
  for (int i = 0; i < a.launch_size(); ++i) {
    if (!MessageDifferencer::Equals(without(a.launch(i)), without(b.launch(i)))) return false;
  }
  return true;
}

}  // namespace heddle::replay
