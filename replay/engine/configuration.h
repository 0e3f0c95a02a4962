// Which policies a run has: as they are written, and as they are once names and parameters have been checked.
#ifndef HEDDLE_REPLAY_ENGINE_CONFIGURATION_H_
#define HEDDLE_REPLAY_ENGINE_CONFIGURATION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/machine.pb.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/memory_policy.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/warp_scheduler.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {

// A policy as the command line gives it: "name" or "name:key=value,key=value".
struct PolicySpec {
  std::string name;
  std::string parameters;
  static PolicySpec FromText(std::string_view text);
};

// One run: how warps diverge, who issues, who is dispatched, who is fetched for, what the L1 keeps.
struct Configuration {
  PolicySpec divergence{"pdom", ""};
  PolicySpec scheduler{"lrr", ""};
  PolicySpec dispatch{"thread_blocks", ""};
  PolicySpec fetch{"round_robin", ""};  // machines with instruction buffers
  PolicySpec memory{"lru", ""};         // machines with a first-level data cache
  uint64_t seed = 0;                    // of the noise on memory latencies (memory.hierarchy.jitter_cycles)
};

// A policy that there is, with the values of its parameters. `Registry` is that of its seam.
template <typename Registry>
struct ChosenPolicy {
  PolicySpec written;
  const typename Registry::Entry* entry = nullptr;
  Parameters parameters;
  PolicyTraits traits;  // with these parameters

  const PolicyInfo& info() const { return entry->info; }
  const std::string& name() const { return entry->info.name; }
};

// Looks the policy up and parses its parameters. InvalidArgument: which names, parameters or values there are.
template <typename Registry>
absl::StatusOr<ChosenPolicy<Registry>> ChoosePolicy(const PolicySpec& written) {
  HEDDLE_ASSIGN_OR_RETURN(const typename Registry::Entry* const entry, Registry::Get().Find(written.name));
  HEDDLE_ASSIGN_OR_RETURN(Parameters parameters, Parameters::Parse(entry->info, written.parameters));
  PolicyTraits traits = TraitsOf(entry->info, parameters);
  return ChosenPolicy<Registry>{written, entry, std::move(parameters), std::move(traits)};
}

// A configuration whose names and parameters have been checked: what runs are made of.
struct CheckedConfiguration {
  ChosenPolicy<DivergenceRegistry> divergence;
  ChosenPolicy<SchedulerRegistry> scheduler;
  ChosenPolicy<DispatchRegistry> dispatch;
  ChosenPolicy<FetchRegistry> fetch;
  ChosenPolicy<MemoryRegistry> memory;
  uint64_t seed = 0;
};

// Whether a policy keeps state from launch to launch (PolicyTraits::state_outlives_launch), so that the launches of a
// trace are run in order.
bool StateOutlivesLaunch(const CheckedConfiguration& configuration);

// Whether the machine has what memory policies decide about.
bool HasDataCache(const machine::v1::Machine& machine);

// Whether the policies go together, whatever the machine. InvalidArgument: which two do not, and why.
absl::Status CheckPolicies(const CheckedConfiguration& configuration);
// Whether the front end and the memory of the machine can run the policies.
absl::Status CheckFrontEnd(const CheckedConfiguration& configuration, const machine::v1::Machine& machine);

// Checks names, parameters, and that the policies go together.
absl::StatusOr<CheckedConfiguration> CheckConfiguration(const Configuration& configuration);
absl::StatusOr<std::vector<CheckedConfiguration>> CheckConfigurations(const std::vector<Configuration>& configurations);
// CheckConfiguration, and whether the policies go with the machine, if one is given.
absl::Status Validate(const Configuration& configuration, const machine::v1::Machine* machine = nullptr);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_CONFIGURATION_H_
