// Sticky round-robin, the warp scheduler of CAPRI's evaluation.
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/policies/schedule/shared/history_scheduler.h"

namespace heddle::replay {
namespace {

// The warps of the running thread block keep the turn until all of them are stalled (Rhu and Erez, CAPRI, section 4).
// The paper does not say what "stalled" is, nor the order within a block; here: round-robin behind the block's last
// issue, then the next block in the order of their places on the SM, and stalled means
//   cannot_issue  that no warp of the block can issue in this cycle
//   long_op       that all its warps wait for memory beyond the core, for a barrier, or are held back: a gap of a cycle
//                 does not hand over the turn
class StickyRoundRobin final : public HistoryScheduler {
 public:
  StickyRoundRobin(const SchedulerContext& context, const Parameters& parameters)
      : HistoryScheduler(1),
        table_(context.table),
        port_(context.port),
        blocks_(static_cast<uint32_t>(context.max_blocks)),
        long_operations_only_(parameters.Choice("stalled") == "long_op"),
        last_(blocks_, kNoSlot),
        resident_(blocks_, 0) {}

  SlotId Pick(const SlotSet& eligible) const override {
    uint32_t least = blocks_;  // distance of the best block from the running one
    SlotId first = kNoSlot;    // of that block
    SlotId behind_last = kNoSlot;
    eligible.ForEach([&](SlotId slot) {
      const uint32_t block = table_.block[slot];
      const uint32_t distance = block >= running_ ? block - running_ : block + blocks_ - running_;
      if (distance > least) return;
      if (distance < least) {
        least = distance;
        first = slot;
        behind_last = kNoSlot;
      }
      if (behind_last == kNoSlot && last_[block] != kNoSlot && slot > last_[block]) behind_last = slot;
    });
    if (long_operations_only_ && least != 0 && RunningBlockGoesOn(table_.priority[first])) return kNoSlot;
    return behind_last != kNoSlot ? behind_last : first;
  }

  void Issued(SlotId slot) override {
    HistoryScheduler::Issued(slot);
    const BlockId block = table_.block[slot];
    if (block != running_) {
      ++own_counter(0);
      running_ = block;
    }
    last_[block] = slot;
  }
  void BlockAdmitted(BlockId block, uint64_t /*sequence*/) override {
    resident_[block] = 1;
    last_[block] = kNoSlot;
  }
  void BlockRetired(BlockId block) override {
    resident_[block] = 0;
    if (block != running_) return;
    // The next block that is there; the place of the retired one may be taken by a new block.
    for (uint32_t i = 1; i < blocks_; ++i) {
      const uint32_t next = (block + i) % blocks_;
      if (resident_[next] == 0) continue;
      running_ = next;
      return;
    }
  }
  void LongLatencyStarted(SlotId slot) override { waits_.Insert(slot); }
  void LongLatencyEnded(SlotId slot) override { waits_.Erase(slot); }

 private:
  // Some warp of the running block is neither waiting for memory or a barrier nor held back by the policy, nor has it
  // less priority than those that are eligible.
  bool RunningBlockGoesOn(uint8_t priority) const {
    for (size_t slot = 0; slot < table_.state.size(); ++slot) {
      if (table_.block[slot] != running_ || table_.port[slot] != port_) continue;
      if (waits_.Contains(static_cast<SlotId>(slot))) continue;
      if (table_.priority[slot] < priority) continue;
      if (table_.state[slot] == SlotState::kOffered || table_.state[slot] == SlotState::kInFlight) return true;
    }
    return false;
  }

  const WarpTable& table_;
  const int port_;
  const uint32_t blocks_;
  const bool long_operations_only_;
  uint32_t running_ = 0;
  std::vector<SlotId> last_;  // by block
  std::vector<uint8_t> resident_;
  SlotSet waits_;
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "sticky_rr",
        .summary = "Round-robin that stays with a thread block until all its warps are stalled",
        .source = "Rhu and Erez (CAPRI), section 4",
        .traits = {.holds_back = true},
        .parameters = {{.name = "stalled",
                        .type = ParameterType::kChoice,
                        .default_value = "cannot_issue",
                        .choices = {"cannot_issue", "long_op"},
                        .description = "when the warps of a block count as stalled",
                        .source = "our reading: the paper does not say"}},
        .counters = HistoryCounterSpecsAnd({{"block_changes", "issues",
                                             "issues of another block than the one before"}}),
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<StickyRoundRobin>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
