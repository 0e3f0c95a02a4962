// CTA-aware two-level scheduling, the first of OWL's policies: thread blocks form groups, and a group keeps the turn
// until all its warps wait, so that groups reach their memory accesses at different times (Jog et al., ASPLOS 2013,
// section 4.1).
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "replay/seams/warp_scheduler.h"

namespace heddle::replay {
namespace {

class CtaGroups final : public WarpScheduler {
 public:
  CtaGroups(const SchedulerContext& context, const Parameters& parameters)
      : table_(context.table),
        blocks_per_group_(static_cast<uint64_t>(parameters.Integer("blocks"))),
        sequence_(static_cast<size_t>(context.max_blocks), 0) {}

  // The group with the turn first, then the groups behind it in the order in which their blocks came; inside a group
  // round-robin, from the slot behind the last issue.
  SlotId Pick(const SlotSet& eligible) const override {
    SlotId best = kNoSlot;
    eligible.ForEach([&](SlotId slot) {
      if (best == kNoSlot || Rank(slot) < Rank(best)) best = slot;
    });
    return best;
  }

  void Issued(SlotId slot) override {
    const uint64_t group = GroupOf(slot);
    if (group != turn_) ++counters_[kTurns];
    turn_ = group;
    last_ = slot;
  }
  void BlockAdmitted(BlockId block, uint64_t sequence) override { sequence_[block] = sequence; }

  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kTurns, kCounters };

  uint64_t GroupOf(SlotId slot) const { return sequence_[table_.block[slot]] / blocks_per_group_; }
  std::tuple<bool, uint64_t, bool, SlotId> Rank(SlotId slot) const {
    const uint64_t group = GroupOf(slot);
    return {group < turn_, group, slot <= last_, slot};  // wraps round: older groups come behind the younger ones
  }

  const WarpTable& table_;
  const uint64_t blocks_per_group_;
  std::vector<uint64_t> sequence_;  // by place on the SM: order of admission of the block there
  uint64_t turn_ = 0;               // group that issued last
  SlotId last_ = kNoSlot;
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "cta_groups",
        .summary = "Groups of thread blocks; a group keeps the turn until none of its warps can issue",
        .source = "Jog et al., OWL, ASPLOS 2013, section 4.1; the order of groups and warps is ours",
        .parameters = {{.name = "blocks",
                        .type = ParameterType::kInteger,
                        .default_value = "2",
                        .unit = "thread blocks",
                        .minimum = 1,
                        .maximum = 4096,
                        .description = "of a group",
                        .source = "ours"}},
        .counters = {{"turns", "turns", "times another group got the turn"}},
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<CtaGroups>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
