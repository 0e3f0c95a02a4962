// Divergence policies that break the rules of the warp editor, for wrong_policies_test.py.
#include <bit>
#include <memory>
#include <utility>

#include "replay/seams/divergence_policy.h"

namespace heddle::replay {
namespace {

enum class Wrong {
  kLosesAll,
  kLosesOthers,
  kContinuesDiverged,
  kRefusesForEver,
  kDoesNothing,
  kWrongLane,
  kPastTimer,
  kExceedsLimit,
  kParks,
  kSplitsAll,
  kDissolvesInFlight,
  kRefusesIssues,
  kNoSuchPort,
  kAddress,
};

// Static warps that part and never rejoin, but for one thing.
template <Wrong kWrong>
class WrongDivergence final : public DivergencePolicy {
 public:
  uint32_t interests() const override {
    const bool asks = kWrong == Wrong::kRefusesIssues || kWrong == Wrong::kNoSuchPort;
    return kLongLatency | (asks ? kIssue : 0u);
  }

  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override {
    if (resolution.groups.empty()) {
      editor.Dissolve(resolution.slot);
      return Verdict::kAccepted;
    }
    Lanes lanes = *resolution.lanes;
    switch (kWrong) {
      case Wrong::kLosesAll:
        editor.Dissolve(resolution.slot);
        return Verdict::kAccepted;
      case Wrong::kLosesOthers:
        lanes.mask = resolution.groups[0].lanes;
        editor.Place(resolution.slot, resolution.groups[0].at, lanes);
        return Verdict::kAccepted;
      case Wrong::kContinuesDiverged:
        editor.Continue(resolution.slot);
        return Verdict::kAccepted;
      case Wrong::kRefusesForEver:
        return Verdict::kRefused;
      case Wrong::kDoesNothing:
        return Verdict::kAccepted;
      case Wrong::kWrongLane:
        if (const LaneMask others = resolution.groups[0].lanes & (resolution.groups[0].lanes - 1); others != 0) {
          std::swap(lanes.thread[std::countr_zero(resolution.groups[0].lanes)], lanes.thread[std::countr_zero(others)]);
        }
        break;
      case Wrong::kPastTimer:
        editor.StartTimer(editor.now() - 1, 0);
        break;
      case Wrong::kExceedsLimit:
        editor.ReportLimitExceeded("the table of paths has 4 entries, 5 are needed");
        break;
      case Wrong::kAddress:
        return *reinterpret_cast<const volatile Verdict*>(address_);
      default:
        break;
    }
    for (size_t i = 0; i < resolution.groups.size(); ++i) {
      lanes.mask = resolution.groups[i].lanes;
      if (i == 0) {
        editor.Place(resolution.slot, resolution.groups[i].at, lanes);
      } else {
        editor.Spawn(resolution.groups[i].at, lanes);
      }
    }
    if (kWrong == Wrong::kParks) editor.Park(resolution.slot);
    return Verdict::kAccepted;
  }
  void LongLatency(SlotId slot, WarpEditor& editor) override {
    if (kWrong == Wrong::kSplitsAll) editor.Split(slot, 0xffff);
    if (kWrong == Wrong::kDissolvesInFlight) editor.Dissolve(slot);
  }
  Verdict AcceptIssue(SlotId slot, WarpEditor& editor) override {
    if (kWrong == Wrong::kRefusesIssues) return Verdict::kRefused;
    if (kWrong == Wrong::kNoSuchPort) editor.SetPort(slot, 9);
    return Verdict::kAccepted;
  }

 private:
  volatile uintptr_t address_ = 8;
};

template <Wrong kWrong>
std::unique_ptr<DivergencePolicy> Make(const DivergenceContext&, const Parameters&) {
  return std::make_unique<WrongDivergence<kWrong>>();
}

PolicyInfo Info(const char* name) {
  return {.name = name, .summary = "wrong", .source = "a test", .traits = {.regrouping = Regrouping::kNever}};
}

HEDDLE_DIVERGENCE_POLICY(Info("loses_all"), Make<Wrong::kLosesAll>);
HEDDLE_DIVERGENCE_POLICY(Info("loses_others"), Make<Wrong::kLosesOthers>);
HEDDLE_DIVERGENCE_POLICY(Info("continues_diverged"), Make<Wrong::kContinuesDiverged>);
HEDDLE_DIVERGENCE_POLICY(Info("refuses_for_ever"), Make<Wrong::kRefusesForEver>);
HEDDLE_DIVERGENCE_POLICY(Info("does_nothing"), Make<Wrong::kDoesNothing>);
HEDDLE_DIVERGENCE_POLICY(Info("wrong_lane"), Make<Wrong::kWrongLane>);
HEDDLE_DIVERGENCE_POLICY(Info("past_timer"), Make<Wrong::kPastTimer>);
HEDDLE_DIVERGENCE_POLICY(Info("meets_limit"), Make<Wrong::kExceedsLimit>);
HEDDLE_DIVERGENCE_POLICY(Info("parks"), Make<Wrong::kParks>);
HEDDLE_DIVERGENCE_POLICY(Info("splits_all"), Make<Wrong::kSplitsAll>);
HEDDLE_DIVERGENCE_POLICY(Info("dissolves_in_flight"), Make<Wrong::kDissolvesInFlight>);
HEDDLE_DIVERGENCE_POLICY(Info("refuses_issues"), Make<Wrong::kRefusesIssues>);
HEDDLE_DIVERGENCE_POLICY(Info("no_such_port"), Make<Wrong::kNoSuchPort>);
HEDDLE_DIVERGENCE_POLICY(Info("reads_anywhere"), Make<Wrong::kAddress>);

}  // namespace
}  // namespace heddle::replay
