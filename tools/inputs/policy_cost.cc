#include "tools/inputs/policy_cost.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/seams/block_dispatcher.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/fetch_policy.h"
#include "replay/seams/memory_policy.h"
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
  look("memory", replay::MemoryRegistry::Get().entries());
  return found;
}

// A scoreboard of one warp. By control bits: six counters of six bits, which count to 63 (Huerta et al., MICRO 2025,
// section 4). Else a bit for each register that an instruction can name; their number is our choice.
uint32_t ScoreboardBits(const machine::v1::Machine& machine) {
  constexpr uint32_t kNames = 256;
  return machine.core().dependences() == machine::v1::Core::CONTROL_BITS ? 6 * 6 : kNames;
}

// The scoreboards beyond one per warp that the policy asks for.
replay::StorageItem FurtherScoreboards(const replay::ScoreboardRule& rule, const machine::v1::Machine& machine) {
  const uint32_t warp_size = machine.core().warp_size();
  uint32_t per_warp = rule.per_warp == 0 ? warp_size : std::min(rule.per_warp, warp_size);
  if (rule.scope == replay::ScoreboardScope::kThread) per_warp = warp_size;
  const uint64_t warps = machine.core().max_threads() / warp_size;
  return {"further scoreboards", warps * (per_warp - 1), ScoreboardBits(machine),
          rule.scope == replay::ScoreboardScope::kThread ? "one per thread, but for one per warp"
                                                         : "one per sub-warp, but for one per warp"};
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
  cost.name = policy.name;
  cost.text = PolicyText(policy);
  cost.storage = replay::PolicyStorageRegistry::Get().Find(seam, policy.name);
  if (cost.storage != nullptr) cost.items = cost.storage->items(ContextOf(machine), parameters);
  const replay::ScoreboardRule scoreboard = replay::TraitsOf(*info, parameters).scoreboard;
  if (scoreboard.scope == replay::ScoreboardScope::kWarp) return cost;
  static const replay::PolicyStorage only_scoreboards{.source = "the scoreboards that the policy asks for"};
  if (cost.storage == nullptr) cost.storage = &only_scoreboards;
  // With one per sub-warp, and one sub-warp, there is no other than a warp has anyway.
  if (const auto further = FurtherScoreboards(scoreboard, machine); further.entries != 0) {
    cost.items.push_back(further);
  }
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
