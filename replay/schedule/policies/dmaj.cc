// DMaj: DWF's majority scheduling (Fung, section 4.3), without the timing of the max-heap that finds the majority.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/schedule/pool_scheduler.h"

namespace heddle::replay {
namespace {

// Elects the PC at which most threads wait and issues its warps, oldest first, until they have run out.
class Majority final : public PoolScheduler {
 public:
  Majority(const SchedulerContext& context, const Parameters& parameters)
      : PoolScheduler(context),
        ties_to_oldest_(parameters.Choice("tie") == "oldest"),
        count_warps_(parameters.Choice("count") == "warps"),
        eager_(parameters.Choice("reelect") == "eager") {}

  std::span<const uint64_t> counters() const override {
    HistoryCounters(history(), counters_.data());
    counters_[kHistoryCounters] = elections_;
    return counters_;
  }

 private:
  SlotId PickFromPool(const SlotSet& eligible) const override {
    if (!eager_ && !elected_.is_exit()) {
      if (const PositionGroups::GroupId id = groups().Find(elected_); id != PositionGroups::kNoGroup) {
        if (const SlotId slot = groups().FirstIn(id, eligible); slot != kNoSlot) return slot;
      }
    }
    SlotId best = kNoSlot;
    const PositionGroups::Group* winner = nullptr;
    for (const PositionGroups::GroupId id : groups().live()) {
      const PositionGroups::Group& group = groups().group(id);
      if (winner != nullptr && !Beats(group, *winner)) continue;
      const SlotId slot = groups().FirstIn(id, eligible);
      if (slot == kNoSlot) continue;
      best = slot;
      winner = &group;
    }
    return best;
  }

  bool Beats(const PositionGroups::Group& a, const PositionGroups::Group& b) const {
    const uint32_t count_a = count_warps_ ? a.warps : a.threads;
    const uint32_t count_b = count_warps_ ? b.warps : b.threads;
    if (count_a != count_b) return count_a > count_b;
    return ties_to_oldest_ ? AgeOf(a) < AgeOf(b) : a.at < b.at;
  }

  void IssuedFromPool(SlotId slot) override {
    const Position at = groups().group(groups().group_of(slot)).at;
    if (at == elected_) return;
    // A warp that went by while the majority's own warps could not issue does not end their turn.
    if (!eager_ && !elected_.is_exit() && groups().Find(elected_) != PositionGroups::kNoGroup) return;
    elected_ = at;
    ++elections_;
  }

  bool ties_to_oldest_;
  bool count_warps_;
  bool eager_;
  Position elected_ = Position::Exit();
  uint64_t elections_ = 0;
  mutable std::array<uint64_t, kHistoryCounters + 1> counters_{};
};

std::vector<CounterSpec> Counters() {
  std::vector<CounterSpec> counters = HistoryCounterSpecs();
  counters.push_back({"elections", "elections", "times the majority passed to another PC"});
  return counters;
}

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "dmaj",
        .summary = "DWF: all warps of the PC at which most threads wait, then the next such PC",
        .source = "Fung, sections 4.3 and 4.4",
        .traits = {.needs_regrouping = true, .needs_regrouping_reason = kNeedsPoolReason},
        .parameters =
            {
                {.name = "tie",
                 .type = ParameterType::kChoice,
                 .default_value = "lower_pc",
                 .choices = {"lower_pc", "oldest"},
                 .description = "which of several PCs with equally many waits wins: the lower one, or the one whose "
                                "oldest warp is older",
                 .source = "GPGPU-Sim 2.x, dwf.cc"},
                {.name = "count",
                 .type = ParameterType::kChoice,
                 .default_value = "threads",
                 .choices = {"threads", "warps"},
                 .description = "what the majority is a majority of",
                 .source = "Fung, section 4.4 (threads) and 4.3 (the most common PC)"},
                {.name = "reelect",
                 .type = ParameterType::kChoice,
                 .default_value = "lazy",
                 .choices = {"lazy", "eager"},
                 .description = "lazy: when the majority's warps have run out; eager: at every issue",
                 .source = "Fung, section 4.3"},
            },
        .counters = Counters(),
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<Majority>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
