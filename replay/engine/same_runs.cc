#include "replay/engine/same_runs.h"

#include <google/protobuf/util/message_differencer.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {
namespace {

using google::protobuf::util::MessageDifferencer;

// Whether the machine's field has that value: "core.ibuffer.fetch_when=EMPTY".
bool Holds(const machine::v1::Machine& machine, const std::string& assignment) {
  machine::v1::Machine with = machine;
  return Override(with, assignment).ok() && MessageDifferencer::Equals(with, machine);
}

template <typename Registry>
void AddMeaning(const char* kind, const PolicySpec& spec, const machine::v1::Machine& machine, RunMeaning& meaning) {
  const auto entry = Registry::Get().Find(kind, spec.name);
  if (!entry.ok()) return;
  const PolicyInfo* info = &(*entry)->info;
  const auto parameters = Parameters::Parse(*info, spec.parameters);
  if (!parameters.ok()) return;
  const PolicyInfo* same = nullptr;
  for (const SamePolicy& declared : info->same_as) {
    const auto other = Registry::Get().Find(kind, declared.policy);
    if (!other.ok() || !Holds(machine, declared.machine)) continue;
    same = &(*other)->info;
    meaning.reasons.push_back(
        absl::StrCat(kind, " ", info->name, " decides as ", same->name, " does: ", declared.machine));
    break;
  }
  absl::StrAppend(&meaning.text, kind, " ", same == nullptr ? info->name : same->name);
  for (const ParameterSpec& parameter : (same == nullptr ? info : same)->parameters) {
    // What the other policy has and this one lacks is as it is by default.
    const auto own = parameters->values().find(parameter.name);
    const bool has = own != parameters->values().end();
    if (same == nullptr && !IsRead(*info, parameter, *parameters)) continue;
    absl::StrAppend(&meaning.text, ",", parameter.name, "=", has ? own->second : parameter.default_value);
  }
  absl::StrAppend(&meaning.text, "\n");
}

}  // namespace

RunMeaning MeaningOf(const Configuration& configuration, const machine::v1::Machine& machine) {
  RunMeaning meaning;
  AddMeaning<DivergenceRegistry>("divergence policy", configuration.divergence, machine, meaning);
  AddMeaning<SchedulerRegistry>("scheduler", configuration.scheduler, machine, meaning);
  AddMeaning<DispatchRegistry>("dispatcher", configuration.dispatch, machine, meaning);
  if (machine.core().front_end() == machine::v1::Core::IBUFFER) {
    AddMeaning<FetchRegistry>("fetch policy", configuration.fetch, machine, meaning);
  }
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
