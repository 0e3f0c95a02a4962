#include "tools/inputs/policy_cost.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/warp_scheduler.h"
#include "tools/inputs/policy_list.h"
#include "traces/base/status_macros.h"
#include "traces/base/suggest.h"

namespace heddle::tools {
namespace {

using replay::PolicyInfo;

// The policies of that name, by seam.
std::vector<std::pair<std::string, const PolicyInfo*>> Find(const std::string& name, std::vector<std::string>& known) {
  std::vector<std::pair<std::string, const PolicyInfo*>> found;
  const auto look = [&](const char* seam, const auto& entries) {
    for (const auto& [key, entry] : entries) {
      known.push_back(key);
      if (key == name) found.emplace_back(seam, &entry.info);
    }
  };
  look("divergence", replay::DivergenceRegistry::Get().entries());
  look("scheduler", replay::SchedulerRegistry::Get().entries());
  look("dispatch", replay::DispatchRegistry::Get().entries());
  look("fetch", replay::FetchRegistry::Get().entries());
  return found;
}

replay::StorageContext ContextOf(const machine::v1::Machine& machine) {
  const machine::v1::Core& core = machine.core();
  return {core.warp_size(), core.max_threads(), core.max_blocks(), core.schedulers()};
}

}  // namespace

absl::StatusOr<PolicyCost> CostOf(const replay::PolicySpec& policy, const machine::v1::Machine& machine) {
  std::vector<std::string> known;
  const auto found = Find(policy.name, known);
  if (found.empty()) return absl::InvalidArgumentError(UnknownNameMessage("policy", policy.name, known));
  const auto& [seam, info] = found[0];
  HEDDLE_ASSIGN_OR_RETURN(const replay::Parameters parameters, replay::Parameters::Parse(*info, policy.parameters));
  PolicyCost cost;
  cost.text = PolicyText(policy);
  cost.storage = replay::PolicyStorageRegistry::Get().Find(seam, policy.name);
  if (cost.storage != nullptr) cost.items = cost.storage->items(ContextOf(machine), parameters);
  return cost;
}

absl::StatusOr<uint64_t> PolicyStorageBits(const std::string& policy, const machine::v1::Machine& machine) {
  HEDDLE_ASSIGN_OR_RETURN(const PolicyCost cost, CostOf(replay::PolicySpec::FromText(policy), machine));
  if (cost.storage == nullptr) return absl::NotFoundError(absl::StrCat(policy, ": its source tabulates no sizes"));
  const uint64_t bits = TotalBits(cost.items);
  if (bits == 0) return absl::FailedPreconditionError(absl::StrCat(policy, ": a structure has no bound"));
  return bits;
}

}  // namespace heddle::tools
