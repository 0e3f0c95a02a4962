#include "replay/engine/configuration.h"

#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"

namespace heddle::replay {

PolicySpec PolicySpec::FromText(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

absl::Status CheckPolicies(const CheckedConfiguration& configuration) {
  const PolicyTraits& divergence = configuration.divergence.traits;
  const PolicyTraits& scheduler = configuration.scheduler.traits;
  const PolicyTraits& dispatch = configuration.dispatch.traits;
  if (!scheduler.needs_regrouping.empty() && divergence.regrouping != Regrouping::kEveryInstruction) {
    return absl::InvalidArgumentError(absl::StrCat("scheduler '", configuration.scheduler.name(),
                                                   "' does not go with divergence policy '",
                                                   configuration.divergence.name(), "': ", scheduler.needs_regrouping));
  }
  if (!dispatch.warp_dispatch.has_value()) return absl::OkStatus();
  if (divergence.regrouping != Regrouping::kNever) {
    return absl::InvalidArgumentError(
        absl::StrCat("dispatcher '", configuration.dispatch.name(), "' does not go with divergence policy '",
                     configuration.divergence.name(),
                     "': it gives an SM single warps, so there is no whole block whose threads could be put together"));
  }
  if (dispatch.warp_dispatch->waits_for_siblings && scheduler.holds_back) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dispatcher '", configuration.dispatch.name(), "' does not go with scheduler '", configuration.scheduler.name(),
        "': its warps wait for others of their block elsewhere than at barriers, and the scheduler might "
        "hold back those that they wait for"));
  }
  return absl::OkStatus();
}

bool StateOutlivesLaunch(const CheckedConfiguration& configuration) {
  return configuration.divergence.traits.state_outlives_launch ||
         configuration.scheduler.traits.state_outlives_launch || configuration.dispatch.traits.state_outlives_launch ||
         configuration.fetch.traits.state_outlives_launch || configuration.memory.traits.state_outlives_launch;
}

bool HasDataCache(const machine::v1::Machine& machine) {
  return machine.memory().has_hierarchy() && machine.memory().hierarchy().l1_data().sets() != 0;
}

absl::Status CheckFrontEnd(const CheckedConfiguration& configuration, const machine::v1::Machine& machine) {
  const PolicySpec& memory = configuration.memory.written;
  if (!HasDataCache(machine) && (memory.name != Configuration().memory.name || !memory.parameters.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("memory policy '", memory.name, "' does not go with machine ", machine.name(),
                     ": it has no first-level data cache; choose a machine with memory.hierarchy.l1_data"));
  }
  if (machine.core().front_end() == machine::v1::Core::IBUFFER) {
    if (!configuration.divergence.traits.mixed_pcs) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("divergence policy '", configuration.divergence.name(), "' does not go with machine ",
                     machine.name(), ": an issue of it holds several PCs, which a buffer of one warp's instructions ",
                     "cannot feed; it runs under core.front_end = THESIS"));
  }
  if (BlocksOnOneScheduler(machine.core()) && configuration.dispatch.traits.warp_dispatch.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "dispatcher '", configuration.dispatch.name(), "' does not go with machine ", machine.name(),
        ": it gives an SM single warps, and core.thesis.blocks_on_one_scheduler divides whole blocks among schedulers; "
        "choose another machine, or --set core.thesis.blocks_on_one_scheduler=false"));
  }
  const PolicySpec& fetch = configuration.fetch.written;
  if (fetch.name == Configuration().fetch.name && fetch.parameters.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("fetch policy '", fetch.name, "' does not go with machine ", machine.name(),
                   ": under core.front_end = THESIS the scheduler is fetch; choose a machine with IBUFFER"));
}

absl::StatusOr<CheckedConfiguration> CheckConfiguration(const Configuration& configuration) {
  HEDDLE_ASSIGN_OR_RETURN(auto divergence, ChoosePolicy<DivergenceRegistry>(configuration.divergence));
  HEDDLE_ASSIGN_OR_RETURN(auto scheduler, ChoosePolicy<SchedulerRegistry>(configuration.scheduler));
  HEDDLE_ASSIGN_OR_RETURN(auto dispatch, ChoosePolicy<DispatchRegistry>(configuration.dispatch));
  HEDDLE_ASSIGN_OR_RETURN(auto fetch, ChoosePolicy<FetchRegistry>(configuration.fetch));
  HEDDLE_ASSIGN_OR_RETURN(auto memory, ChoosePolicy<MemoryRegistry>(configuration.memory));
  CheckedConfiguration checked{std::move(divergence), std::move(scheduler), std::move(dispatch),
                               std::move(fetch),      std::move(memory),    configuration.seed};
  HEDDLE_RETURN_IF_ERROR(CheckPolicies(checked));
  return checked;
}

absl::StatusOr<std::vector<CheckedConfiguration>> CheckConfigurations(
    const std::vector<Configuration>& configurations) {
  std::vector<CheckedConfiguration> checked;
  for (const Configuration& configuration : configurations) {
    HEDDLE_ASSIGN_OR_RETURN(CheckedConfiguration one, CheckConfiguration(configuration));
    checked.push_back(std::move(one));
  }
  return checked;
}

absl::Status Validate(const Configuration& configuration, const machine::v1::Machine* machine) {
  HEDDLE_ASSIGN_OR_RETURN(const CheckedConfiguration checked, CheckConfiguration(configuration));
  return machine == nullptr ? absl::OkStatus() : CheckFrontEnd(checked, *machine);
}

}  // namespace heddle::replay
