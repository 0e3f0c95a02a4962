// What barrier-aware schedulers share: how far each thread block is with its barrier, and the order inside a block.
#ifndef HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_BARRIER_ORDER_H_
#define HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_BARRIER_ORDER_H_

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "replay/policies/schedule/shared/history_scheduler.h"

namespace heddle::replay {

// The warp priority table of BAWS (Liu et al., section 4.1.2), one counter per block, and when the first warp came.
// Every port keeps its own copy, and all of them are told the same events. An arrival shows from the next cycle on.
//
// Warps are the static ones. Under policies that form other warps, a static warp counts from its first thread's
// arrival.
class BarrierTable {
 public:
  static constexpr uint64_t kNobody = std::numeric_limits<uint64_t>::max();

  BarrierTable(const SchedulerContext& context, bool count_exits)
      : table_(context.table),
        warp_size_(static_cast<uint32_t>(context.warp_size)),
        count_exits_(count_exits),
        blocks_(static_cast<size_t>(context.max_blocks)),
        hw_warp_waits_((static_cast<size_t>(context.max_threads) + warp_size_ - 1) / warp_size_, 0) {}

  void BlockAdmitted(BlockId block, uint64_t sequence) {
    blocks_[block] = Block();
    blocks_[block].sequence = sequence;
  }
  void Arrived(SlotId slot) {
    const Lanes& lanes = table_.lanes[slot];
    Block& block = blocks_[table_.block[slot]];
    for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
      const uint32_t hw_warp = lanes.thread[std::countr_zero(mask)] / warp_size_;
      if (hw_warp_waits_[hw_warp] != 0) continue;
      hw_warp_waits_[hw_warp] = 1;
      block.hw_warps.push_back(hw_warp);
    }
    if (block.first_arrival == kNobody) block.first_arrival = ++arrivals_;
  }
  void Released(BlockId id) {
    Block& block = blocks_[id];
    for (const uint32_t hw_warp : block.hw_warps) hw_warp_waits_[hw_warp] = 0;
    block.hw_warps.clear();
    block.first_arrival = kNobody;
  }
  void WarpExited(BlockId block) { blocks_[block].exited += count_exits_; }

  // Warps of the block that wait at its barrier, and those that have exited if they count.
  uint64_t waiting(BlockId block) const { return blocks_[block].hw_warps.size() + blocks_[block].exited; }
  // Order of the first arrival at the present barrier over the SM's blocks; kNobody if no warp waits.
  uint64_t first_arrival(BlockId block) const { return blocks_[block].first_arrival; }
  // Order of dispatch on the SM.
  uint64_t sequence(BlockId block) const { return blocks_[block].sequence; }

 private:
  struct Block {
    uint64_t sequence = 0;
    uint64_t first_arrival = kNobody;
    uint64_t exited = 0;
    std::vector<uint32_t> hw_warps;  // that wait
  };
  const WarpTable& table_;
  const uint32_t warp_size_;
  const bool count_exits_;
  std::vector<Block> blocks_;
  std::vector<uint8_t> hw_warp_waits_;
  uint64_t arrivals_ = 0;
};

// Picks from the block that a comparison puts first, and inside it by one of the two orders of BAWS, section 4.1.1. One
// pass over the eligible slots.
class BarrierAwareScheduler : public HistoryScheduler {
 public:
  enum class Inner : uint8_t { kRoundRobin, kGreedyOfBlock, kGreedyOfPort };

  uint64_t Urgency(BlockId block) const override { return barriers_.waiting(block); }

  void Issued(SlotId slot) override {
    HistoryScheduler::Issued(slot);
    const BlockId block = table_.block[slot];
    if (barriers_.waiting(block) != 0) ++own_counter(0);
    last_[block] = {slot, table_.formed[slot]};
    greedy_.Issued(slot);
  }
  void BlockAdmitted(BlockId block, uint64_t sequence) override {
    barriers_.BlockAdmitted(block, sequence);
    last_[block] = Last();
  }
  void BarrierArrived(SlotId slot) override { barriers_.Arrived(slot); }
  void BarrierReleased(BlockId block) override { barriers_.Released(block); }
  void WarpExited(BlockId block) override { barriers_.WarpExited(block); }

 protected:
  BarrierAwareScheduler(const SchedulerContext& context, Inner inner, bool count_exits)
      : HistoryScheduler(1),
        table_(context.table),
        barriers_(context, count_exits),
        inner_(inner),
        last_(static_cast<size_t>(context.max_blocks)),
        greedy_(context.table) {}

  const BarrierTable& barriers() const { return barriers_; }

  // `before(a, b)`: block a goes before block b.
  template <typename Before>
  SlotId PickByBlock(const SlotSet& eligible, Before before) const {
    SlotId first = kNoSlot;      // of the best block: the first slot, or the oldest warp
    SlotId preferred = kNoSlot;  // the one behind the last issue, or the greedy one
    eligible.ForEach([&](SlotId slot) {
      const BlockId block = table_.block[slot];
      if (first != kNoSlot && table_.block[first] != block) {
        if (!before(block, table_.block[first])) return;
        first = preferred = kNoSlot;
      }
      if (inner_ == Inner::kRoundRobin) {
        if (first == kNoSlot) first = slot;
        if (preferred == kNoSlot && last_[block].slot != kNoSlot && slot > last_[block].slot) preferred = slot;
        return;
      }
      if (first == kNoSlot || table_.formed[slot] < table_.formed[first]) first = slot;
      const bool greedy = inner_ == Inner::kGreedyOfPort
                              ? greedy_.Is(slot)
                              : last_[block].slot == slot && last_[block].formed == table_.formed[slot];
      if (greedy) preferred = slot;
    });
    return preferred != kNoSlot ? preferred : first;
  }

 private:
  struct Last {
    SlotId slot = kNoSlot;
    uint64_t formed = 0;
  };
  const WarpTable& table_;
  BarrierTable barriers_;
  const Inner inner_;
  std::vector<Last> last_;  // issue of the block on this port
  GreedyWarp greedy_;
};

inline std::vector<CounterSpec> BarrierAwareCounterSpecs() {
  return HistoryCounterSpecsAnd(
      {{"issues_beside_barrier", "issues", "issues of a warp of whose block other warps wait at a barrier"}});
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_BARRIER_ORDER_H_
