#include "tools/heddle/policy_cost_command.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "replay/dispatch/block_dispatcher.h"
#include "replay/divergence/divergence_policy.h"
#include "replay/engine/machine.h"
#include "replay/engine/policy_storage.h"
#include "replay/engine/suggest.h"
#include "replay/fetch/fetch_policy.h"
#include "replay/schedule/warp_scheduler.h"
#include "tools/heddle/json.h"
#include "tools/heddle/output.h"
#include "tools/heddle/policy_list.h"
#include "tools/heddle/table.h"
#include "tools/heddle/terminal.h"

namespace heddle::tools {
namespace {

using Json = nlohmann::ordered_json;
using replay::PolicyInfo;
using replay::PolicyStorage;
using replay::StorageItem;

// A policy with its parameters, and the structures that it takes.
struct Cost {
  std::string text;  // as on the command line
  const PolicyStorage* storage = nullptr;
  std::vector<StorageItem> items;
};

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

absl::StatusOr<Cost> CostOf(const replay::PolicySpec& policy, const replay::StorageContext& context) {
  std::vector<std::string> known;
  const auto found = Find(policy.name, known);
  if (found.empty()) return absl::InvalidArgumentError(replay::UnknownNameMessage("policy", policy.name, known));
  const auto& [seam, info] = found[0];
  const absl::StatusOr<replay::Parameters> parameters = replay::Parameters::Parse(*info, policy.parameters);
  if (!parameters.ok()) return parameters.status();
  Cost cost;
  cost.text = PolicyText(policy);
  cost.storage = replay::PolicyStorageRegistry::Get().Find(seam, policy.name);
  if (cost.storage != nullptr) cost.items = cost.storage->items(context, *parameters);
  return cost;
}

replay::StorageContext ContextOf(const machine::v1::Machine& machine) {
  const machine::v1::Core& core = machine.core();
  return {core.warp_size(), core.max_threads(), core.max_blocks(), core.schedulers()};
}

// "59,312 bits (7,414 bytes)".
std::string BitsText(uint64_t bits) {
  return bits % 8 == 0 ? absl::StrCat(WithThousands(bits), " bits (", WithThousands(bits / 8), " bytes)")
                       : absl::StrCat(WithThousands(bits), " bits");
}

std::string TotalText(const std::vector<StorageItem>& items) {
  const uint64_t total = TotalBits(items);
  return total == 0 ? "as much as is needed: a structure has no bound" : BitsText(total);
}

std::string Text(const std::vector<Cost>& costs, const machine::v1::Machine& machine) {
  std::string text = absl::StrCat("Storage per SM of ", machine.name(), "\n");
  std::vector<StorageItem> all;
  bool unknown = false;
  for (const Cost& cost : costs) {
    absl::StrAppend(&text, "\n", cost.text, "\n");
    if (cost.storage == nullptr) {
      absl::StrAppend(&text, "  no sizes: its source tabulates none\n");
      unknown = true;
      continue;
    }
    Table table(
        {{"structure", Table::Align::kLeft}, {"entries"}, {"bits each"}, {"bits"}, {"contents", Table::Align::kLeft}});
    for (const StorageItem& item : cost.items) {
      const bool bounded = item.entries != 0;
      table.AddRow({item.structure, bounded ? WithThousands(item.entries) : "no bound", absl::StrCat(item.bits),
                    bounded ? WithThousands(item.entries * item.bits) : "-", item.contents});
    }
    absl::StrAppend(&text, table.Text(2), "  Total: ", TotalText(cost.items), "\n  Source: ", cost.storage->source,
                    "\n");
    if (!cost.storage->remark.empty()) absl::StrAppend(&text, "  Note: ", cost.storage->remark, "\n");
    all.insert(all.end(), cost.items.begin(), cost.items.end());
  }
  if (costs.size() > 1 && !unknown) absl::StrAppend(&text, "\nTogether: ", TotalText(all), "\n");
  return text;
}

Json ToJson(const std::vector<Cost>& costs, const machine::v1::Machine& machine) {
  Json document = {{"schema", 1}, {"machine", machine.name()}, {"policies", Json::array()}};
  for (const Cost& cost : costs) {
    Json policy = {{"policy", cost.text}, {"tabulated", cost.storage != nullptr}};
    if (cost.storage != nullptr) {
      policy["source"] = cost.storage->source;
      policy["structures"] = Json::array();
      for (const StorageItem& item : cost.items) {
        policy["structures"].push_back({{"structure", item.structure},
                                        {"bounded", item.entries != 0},
                                        {"entries", item.entries},
                                        {"bits_per_entry", item.bits},
                                        {"contents", item.contents}});
      }
      policy["total_bits"] = TotalBits(cost.items);  // 0: no bound
    }
    document["policies"].push_back(std::move(policy));
  }
  return document;
}

}  // namespace

absl::StatusOr<uint64_t> PolicyStorageBits(const std::string& policy, const machine::v1::Machine& machine) {
  const absl::StatusOr<Cost> cost = CostOf(replay::PolicySpec::FromText(policy), ContextOf(machine));
  if (!cost.ok()) return cost.status();
  if (cost->storage == nullptr) return absl::NotFoundError(absl::StrCat(policy, ": its source tabulates no sizes"));
  const uint64_t bits = TotalBits(cost->items);
  if (bits == 0) return absl::FailedPreconditionError(absl::StrCat(policy, ": a structure has no bound"));
  return bits;
}

int PolicyCostCommand(const std::string& policies, const std::string& machine, bool json) {
  const absl::StatusOr<machine::v1::Machine> loaded = replay::LoadMachine(machine);
  if (!loaded.ok()) return Complain(kWrongUsage, absl::StrCat("--machine: ", loaded.status().message()));
  if (policies.empty()) return Complain(kWrongUsage, "policies --cost: name a policy, such as capri:capt_entries=8");
  const absl::StatusOr<std::vector<replay::PolicySpec>> list = SplitPolicies(policies);
  if (!list.ok()) return Complain(kWrongUsage, list.status());
  const replay::StorageContext context = ContextOf(*loaded);
  std::vector<Cost> costs;
  for (const replay::PolicySpec& policy : *list) {
    absl::StatusOr<Cost> cost = CostOf(policy, context);
    if (!cost.ok()) return Complain(kWrongUsage, cost.status());
    costs.push_back(*std::move(cost));
  }
  const absl::Status written =
      WriteStandardOutput(json ? JsonLine(ToJson(costs, *loaded)) + "\n" : Text(costs, *loaded));
  return written.ok() ? kSuccess : Complain(kFailed, written);
}

}  // namespace heddle::tools
