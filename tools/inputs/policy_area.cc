#include "tools/inputs/policy_area.h"

#include <google/protobuf/text_format.h>

#include <algorithm>

#include "tools/inputs/area_table.h"

namespace heddle::tools {

using areas::v1::AreaTable;
using areas::v1::PolicyArea;
using areas::v1::StructureArea;

const AreaTable& PublishedAreas() {
  static const AreaTable& table = *new AreaTable([] {
    AreaTable read;
    google::protobuf::TextFormat::ParseFromString(kAreaTableText, &read);
    return read;
  }());
  return table;
}

const PolicyArea* PublishedArea(const std::string& policy) {
  const auto& all = PublishedAreas().policy();
  const auto found = std::ranges::find(all, policy, [](const PolicyArea& area) { return area.policy(); });
  return found == all.end() ? nullptr : &*found;
}

bool IsForItem(const StructureArea& area, const std::vector<replay::StorageItem>& items) {
  return std::ranges::any_of(items, [&](const replay::StorageItem& item) {
    return item.structure == area.structure() && item.entries == area.entries() && item.bits == area.bits();
  });
}

std::optional<double> SharePerCent(const areas::v1::ChipShare& chip, const std::vector<std::string>& policies) {
  double square_millimetres = 0;
  for (const std::string& name : chip.policy()) {
    const PolicyArea* const area = PublishedArea(name);
    if (area == nullptr || std::ranges::find(policies, name) == policies.end()) return std::nullopt;
    for (const StructureArea& one : area->structure()) square_millimetres += one.square_millimetres();
  }
  constexpr double kPerCent = 100;
  return kPerCent * square_millimetres * chip.sms() / chip.square_millimetres();
}

}  // namespace heddle::tools
