// gCAWS: greedy criticality-aware warp scheduling, the scheduler half of CAWA (Lee, Arunkumar and Wu, ISCA 2015).
// docs/policies/schedulers.md.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/policies/schedule/shared/history_scheduler.h"

namespace heddle::replay {
namespace {

class CriticalityAware final : public HistoryScheduler {
 public:
  explicit CriticalityAware(const SchedulerContext& context)
      : HistoryScheduler(kCounters),
        table_(context.table),
        clock_(context.clock),
        greedy_(context.table),
        warps_(context.table.state.size()),
        reconvergence_of_(context.program.instruction_count(), trace::kNoPc) {
    for (const trace::Block& block : context.program.blocks()) {
      const bool decides =
          block.terminator == trace::v1::BRANCH_CONDITIONAL || block.terminator == trace::v1::BRANCH_WIDE;
      if (!decides || block.post_dominator == trace::kNoBlock) continue;
      reconvergence_of_[block.first + block.count - 1] = context.program.block(block.post_dominator).first;
    }
  }

  SlotId Pick(const SlotSet& eligible) const override {
    if (const SlotId greedy = greedy_.In(eligible); greedy != kNoSlot) return greedy;
    SlotId best = kNoSlot;
    uint64_t most = 0;
    eligible.ForEach([&](SlotId slot) {
      const uint64_t criticality = Criticality(slot);
      const bool ties = best != kNoSlot && criticality == most && table_.formed[slot] < table_.formed[best];
      if (best != kNoSlot && criticality <= most && !ties) return;
      best = slot;
      most = criticality;
    });
    return best;
  }

  void Issued(SlotId slot) override {
    HistoryScheduler::Issued(slot);
    greedy_.Issued(slot);
    WarpCriticality& warp = warps_[slot];
    if (warp.formed != table_.formed[slot]) warp = {table_.formed[slot], Now(), 0, 0, trace::kNoPc};
    const uint64_t to_go = ToGo(slot, warp);
    own_counter(kLongestPath) = std::max(own_counter(kLongestPath), to_go);
    warp.to_go = to_go == 0 ? 0 : to_go - 1;
    ++warp.issues;
    warp.joins_at = reconvergence_of_[table_.position[slot].pc()];
  }

  static std::vector<CounterSpec> Counters() {
    return HistoryCounterSpecsAnd(
        {{"longest_path", "instructions", "most instructions that a warp had to go", CounterSpec::Combine::kMaximum}});
  }

 private:
  enum Counter { kLongestPath, kCounters };
  struct WarpCriticality {
    uint64_t formed = 0;  // the warp that the rest is of
    Cycle first = 0;      // issue
    uint64_t issues = 0;
    uint64_t to_go = 0;                 // instructions, without those of a branch that issued last
    trace::Pc joins_at = trace::kNoPc;  // reconvergence point of the branch that issued last
  };
  // Instructions that the warp in the slot has to go, with those of the path that it takes behind its last branch.
  uint64_t ToGo(SlotId slot, const WarpCriticality& warp) const {
    const trace::Pc at = table_.position[slot].pc();
    return warp.to_go + (warp.joins_at != trace::kNoPc && warp.joins_at > at ? warp.joins_at - at : 0);
  }
  uint64_t Criticality(SlotId slot) const {
    const WarpCriticality& warp = warps_[slot];
    if (warp.formed != table_.formed[slot] || warp.issues == 0) return 0;
    const uint64_t cycles = Now() - warp.first;
    return ToGo(slot, warp) * cycles / warp.issues + (cycles - std::min(cycles, warp.issues));
  }
  Cycle Now() const { return clock_ == nullptr ? 0 : *clock_; }

  const WarpTable& table_;
  const Cycle* const clock_;
  GreedyWarp greedy_;
  std::vector<WarpCriticality> warps_;       // by slot
  std::vector<trace::Pc> reconvergence_of_;  // by PC of a branch
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "gcaws",
        .summary = "Greedy, then the warp predicted to end last: the scheduler half of CAWA, without its cache",
        .source = "Lee, Arunkumar and Wu (CAWA), ISCA 2015",
        .counters = CriticalityAware::Counters(),
    },
    [](const SchedulerContext& context, const Parameters&) { return std::make_unique<CriticalityAware>(context); });

}  // namespace
}  // namespace heddle::replay
