#include "replay/engine/order/work_distributor.h"

#include <algorithm>
#include <array>

namespace heddle::replay {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"in_order", "fill_first", "spatial_split"};

}  // namespace

std::span<const std::string_view> LaunchRuleNames() { return kNames; }

std::string_view NameOf(LaunchRule rule) { return kNames[static_cast<size_t>(rule)]; }

std::optional<LaunchRule> LaunchRuleOf(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<LaunchRule>(found - kNames.begin());
}

std::unique_ptr<WorkDistributor> MakeWorkDistributor(LaunchRule rule) {
  switch (rule) {
    case LaunchRule::kInOrder:
      return nullptr;
    case LaunchRule::kFillFirst:
      return MakeFillFirst();
    case LaunchRule::kSpatialSplit:
      return MakeSpatialSplit();
  }
  return nullptr;
}

void PlaceLaunches(std::span<const uint32_t> shares, std::span<const SmHolding> sms, std::vector<uint32_t>& out) {
  out.assign(sms.size(), SmHolding::kNone);
  for (uint32_t launch = 0; launch < shares.size(); ++launch) {
    uint32_t kept = 0;
    for (const bool busy : {true, false}) {
      for (size_t sm = 0; sm < sms.size() && kept < shares[launch]; ++sm) {
        if (sms[sm].launch != launch || sms[sm].busy != busy) continue;
        out[sm] = launch;
        ++kept;
      }
    }
  }
  for (uint32_t launch = 0; launch < shares.size(); ++launch) {
    uint32_t has = 0;
    for (const uint32_t owner : out) has += owner == launch ? 1 : 0;
    for (const bool busy : {false, true}) {
      for (size_t sm = 0; sm < sms.size() && has < shares[launch]; ++sm) {
        if (out[sm] != SmHolding::kNone || sms[sm].busy != busy) continue;
        out[sm] = launch;
        ++has;
      }
    }
  }
}

}  // namespace heddle::replay
