// DMin: DWF's minority scheduling (Fung, section 4.3).
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/schedule/pool_scheduler.h"

namespace heddle::replay {
namespace {

// The PC at which the fewest threads wait, so that stragglers catch up; ties go to the PC whose oldest warp is older.
// The thesis says only of the majority that it keeps its turn, so a new PC is chosen at every issue unless `sticky`.
class Minority final : public PoolScheduler {
 public:
  Minority(const SchedulerContext& context, const Parameters& parameters)
      : PoolScheduler(context), sticky_(parameters.Bool("sticky")) {}

  std::span<const uint64_t> counters() const override {
    HistoryCounters(history(), counters_.data());
    return counters_;
  }

 private:
  SlotId PickFromPool(const SlotSet& eligible) const override {
    if (sticky_ && !elected_.is_exit()) {
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
    return a.threads != b.threads ? a.threads < b.threads : AgeOf(a) < AgeOf(b);
  }

  void IssuedFromPool(SlotId slot) override {
    if (!sticky_) return;
    // A warp that went by while the elected PC's own warps could not issue does not end their turn.
    if (!elected_.is_exit() && groups().Find(elected_) != PositionGroups::kNoGroup) return;
    elected_ = groups().group(groups().group_of(slot)).at;
  }

  bool sticky_;
  Position elected_ = Position::Exit();
  mutable std::array<uint64_t, kHistoryCounters> counters_{};
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "dmin",
        .summary = "DWF: the PC at which the fewest threads wait",
        .source = "Fung, section 4.3",
        .traits = {.needs_regrouping = true, .needs_regrouping_reason = kNeedsPoolReason},
        .parameters = {{.name = "sticky",
                        .type = ParameterType::kBool,
                        .default_value = "false",
                        .description = "whether a PC keeps its turn until its warps have run out",
                        .source = "Fung, section 4.3, which says so of the majority only"}},
        .counters = HistoryCounterSpecs(),
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<Minority>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
