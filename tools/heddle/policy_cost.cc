#include "tools/heddle/policy_cost.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "replay/machine/machine.h"
#include "replay/seams/policy_storage.h"
#include "tools/console/json.h"
#include "tools/console/output.h"
#include "tools/console/table.h"
#include "tools/console/terminal.h"
#include "tools/inputs/policy_area.h"
#include "tools/inputs/policy_cost.h"
#include "tools/inputs/policy_list.h"

namespace heddle::tools {
namespace {

using Json = nlohmann::ordered_json;
using replay::StorageItem;

// "59,312 bits (7,414 bytes)".
std::string BitsText(uint64_t bits) {
  return bits % 8 == 0 ? absl::StrCat(WithThousands(bits), " bits (", WithThousands(bits / 8), " bytes)")
                       : absl::StrCat(WithThousands(bits), " bits");
}

std::string TotalText(const std::vector<StorageItem>& items) {
  const uint64_t total = TotalBits(items);
  return total == 0 ? "as much as is needed: a structure has no bound" : BitsText(total);
}

// "256 x 208 bits"; "-" if the source does not say.
std::string SizeText(uint64_t entries, uint64_t bits) {
  return entries == 0 ? "-" : absl::StrCat(WithThousands(entries), " x ", bits, " bits");
}

std::string Published(double number) { return number == 0 ? "-" : Decimal(number, number < 0.01 ? 4 : 3); }

const char* AsHere(const areas::v1::StructureArea& area, const PolicyCost& cost) {
  return area.entries() == 0 ? "-" : IsForItem(area, cost.items) ? "yes" : "no";
}

// What is published of the structures; empty if nothing is.
std::string AreaText(const PolicyCost& cost) {
  const areas::v1::PolicyArea* const area = PublishedArea(cost.name);
  if (area == nullptr) return "";
  Table table({{"published", Table::Align::kLeft},
               {"for"},
               {"as here"},
               {"mm2"},
               {"access ns"},
               {"access pJ"},
               {"inputs", Table::Align::kLeft}});
  double sum = 0;
  for (const areas::v1::StructureArea& one : area->structure()) {
    table.AddRow({one.structure(), SizeText(one.entries(), one.bits()), AsHere(one, cost),
                  Published(one.square_millimetres()), Published(one.access_nanoseconds()),
                  Published(one.access_picojoules()), one.inputs()});
    sum += one.square_millimetres();
  }
  return absl::StrCat("\n", table.Text(2), "  Together: ", Decimal(sum, 3), " mm2 in ", area->nanometres(), " nm, by ",
                      area->model(), "\n  Source: ", area->source(), "; not scaled to other sizes\n");
}

std::string ChipText(const std::vector<PolicyCost>& costs) {
  std::vector<std::string> names;
  for (const PolicyCost& cost : costs) names.push_back(cost.name);
  std::string text;
  for (const areas::v1::ChipShare& chip : PublishedAreas().chip()) {
    const std::optional<double> share = SharePerCent(chip, names);
    if (!share.has_value()) continue;
    absl::StrAppend(&text, "\nOf a chip: ", Decimal(*share, 2), " % of the ", Decimal(chip.square_millimetres(), 0),
                    " mm2 of ", chip.chip(), ", with ", chip.sms(), " SMs");
    if (chip.further_per_cent() != 0) {
      absl::StrAppend(&text, "; and about ", Decimal(chip.further_per_cent(), 1), " % for ", chip.further());
    }
    absl::StrAppend(&text, " (", chip.source(), ")\n");
  }
  return text;
}

std::string Text(const std::vector<PolicyCost>& costs, const machine::v1::Machine& machine) {
  std::string text = absl::StrCat("Storage per SM of ", machine.name(), "\n");
  std::vector<StorageItem> all;
  bool unknown = false;
  for (const PolicyCost& cost : costs) {
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
    absl::StrAppend(&text, AreaText(cost));
    all.insert(all.end(), cost.items.begin(), cost.items.end());
  }
  if (costs.size() > 1 && !unknown) absl::StrAppend(&text, "\nTogether: ", TotalText(all), "\n");
  return text + ChipText(costs);
}

Json AreaJson(const areas::v1::PolicyArea& area, const PolicyCost& cost) {
  Json json = {{"nanometres", area.nanometres()},
               {"model", area.model()},
               {"source", area.source()},
               {"structures", Json::array()}};
  double sum = 0;
  for (const areas::v1::StructureArea& one : area.structure()) {
    Json structure = {{"structure", one.structure()},
                      {"entries", one.entries()},
                      {"bits_per_entry", one.bits()},
                      {"as_here", IsForItem(one, cost.items)},
                      {"square_millimetres", one.square_millimetres()},
                      {"inputs", one.inputs()}};
    if (one.access_nanoseconds() != 0) structure["access_nanoseconds"] = one.access_nanoseconds();
    if (one.access_picojoules() != 0) structure["access_picojoules"] = one.access_picojoules();
    json["structures"].push_back(std::move(structure));
    sum += one.square_millimetres();
  }
  json["square_millimetres"] = sum;
  return json;
}

Json ToJson(const std::vector<PolicyCost>& costs, const machine::v1::Machine& machine) {
  Json document = {{"schema", 1}, {"machine", machine.name()}, {"policies", Json::array()}};
  for (const PolicyCost& cost : costs) {
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
    if (const areas::v1::PolicyArea* const area = PublishedArea(cost.name); area != nullptr) {
      policy["area"] = AreaJson(*area, cost);
    }
    document["policies"].push_back(std::move(policy));
  }
  return document;
}

}  // namespace

int ShowPolicyCost(const std::string& policies, const std::string& machine, bool json) {
  const absl::StatusOr<machine::v1::Machine> loaded = replay::LoadMachine(machine);
  if (!loaded.ok()) return ReportError(kWrongUsage, absl::StrCat("--machine: ", loaded.status().message()));
  if (policies.empty()) return ReportError(kWrongUsage, "policies --cost: name a policy, such as capri:capt_entries=8");
  const absl::StatusOr<std::vector<replay::PolicySpec>> list = SplitPolicies(policies);
  if (!list.ok()) return ReportError(kWrongUsage, list.status());
  std::vector<PolicyCost> costs;
  for (const replay::PolicySpec& policy : *list) {
    absl::StatusOr<PolicyCost> cost = CostOf(policy, *loaded);
    if (!cost.ok()) return ReportError(kWrongUsage, cost.status());
    costs.push_back(*std::move(cost));
  }
  const absl::Status written =
      WriteStandardOutput(json ? JsonLine(ToJson(costs, *loaded)) + "\n" : Text(costs, *loaded));
  return written.ok() ? kSuccess : ReportError(kFailed, written);
}

}  // namespace heddle::tools
