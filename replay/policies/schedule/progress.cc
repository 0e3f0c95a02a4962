// The progress-aware scheduler of VTW (Anantpur and Govindarajan, section 4.3.2 and Algorithm 1), which its authors
// adapted from their PRO.
#include <bit>
#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/policies/schedule/shared/barrier_order.h"
#include "replay/seams/policy_storage.h"

namespace heddle::replay {
namespace {

// Fast phase, until the last block of the grid has been given away:
//   1. blocks with a warp at a barrier: more waiting warps first, then more progress; their warps by least progress
//   2. blocks whose warps are in two iterations: fewer warps in the older one first; of that one the warps, by least
//      progress
//   3. blocks whose warps are all in one iteration: more progress first; so their warps
//   4. the blocks of 2 again: more warps in the newer iteration first; of that one the warps, by least progress
// Slow phase: blocks with less progress first, and so their warps.
//
// A block is a virtual one where the dispatcher has such. Its progress is the number of warp-instructions that it has
// issued on any port, a warp's the same, both since the block came to the SM. The paper orders no warps within 4, and
// breaks no other ties: least progress, the block that came first, then the lower warp (our choice). Where warps hold
// threads of several static warps, a warp's progress is that of its lowest lane's.
class ProgressAware final : public HistoryScheduler {
 public:
  ProgressAware(const SchedulerContext& context, const Parameters& parameters)
      : HistoryScheduler(kCounters),
        table_(context.table),
        warp_size_(static_cast<uint32_t>(context.warp_size)),
        barriers_first_when_slow_(parameters.Choice("slow") == "barriers_first"),
        barriers_(context, /*count_exits=*/false),
        blocks_(static_cast<size_t>(context.max_blocks)),
        groups_(2 * blocks_.size()),
        progress_((static_cast<size_t>(context.max_threads) + warp_size_ - 1) / warp_size_, 0),
        keys_(blocks_.size()),
        known_(blocks_.size(), 0) {}

  SlotId Pick(const SlotSet& eligible) const override {
    SlotId best = kNoSlot;
    BlockId best_block = kNone;
    BlockKey least_block;
    WarpKey least_warp;
    eligible.ForEach([&](SlotId slot) {
      // Neighbours are mostly of one block, whose key need not be compared then.
      const BlockId block = table_.block[slot];
      bool decided = false;
      if (block != best_block) {
        const BlockKey& key = KeyOfBlock(block);
        if (best != kNoSlot && least_block < key) return;
        decided = best == kNoSlot || key < least_block;
        least_block = key;
      }
      const WarpKey warp = KeyOfWarp(slot, least_block);
      if (!decided && !(warp < least_warp)) return;
      best = slot;
      best_block = block;
      least_warp = warp;
    });
    return best;
  }
  uint64_t Urgency(BlockId block) const override { return barriers_.waiting(block); }

  bool watches_sm() const override { return true; }
  void IssuedOnSm(SlotId slot) override {
    ++progress_[HwWarpOf(slot)];
    Group& group = groups_[blocks_[table_.block[slot]].group];
    ++group.progress;
    ForgetKeys(group);
  }
  void Issued(SlotId slot) override {
    HistoryScheduler::Issued(slot);
    ++own_counter(ClassOf(table_.block[slot]));
  }

  void BlockAdmitted(BlockId id, uint64_t sequence) override {
    barriers_.BlockAdmitted(id, sequence);
    blocks_[id] = {id, 0, 0};
    groups_[id] = {kNone, id, sequence, 0};
    ForgetAllKeys();
  }
  void VirtualBlock(BlockId id, uint32_t place, uint64_t iteration) override {
    const uint32_t index = static_cast<uint32_t>(blocks_.size()) + place;
    Group& group = groups_[index];
    if (iteration == 0) group = {kNone, kNone, barriers_.sequence(id), 0};
    group.older = group.newer;
    group.newer = id;
    blocks_[id].group = index;
    blocks_[id].iteration = iteration;
    ForgetAllKeys();
  }
  void BlockRetired(BlockId id) override {
    Group& group = groups_[blocks_[id].group];
    if (group.older == id) group.older = kNone;
    if (group.newer == id) group.newer = kNone;
    ForgetAllKeys();
  }
  void WarpsAdmitted(BlockId id, uint32_t first_hw_warp, uint32_t hw_warps) override {
    blocks_[id].live += hw_warps;
    ForgetAllKeys();
    if (blocks_[id].iteration != 0) return;  // its warps have run before
    for (uint32_t hw_warp = first_hw_warp; hw_warp < first_hw_warp + hw_warps; ++hw_warp) progress_[hw_warp] = 0;
  }
  void WarpExited(BlockId id) override {
    --blocks_[id].live;
    ForgetAllKeys();
  }
  bool watches_grid() const override { return true; }
  void GridAssigned() override {
    slow_ = true;
    ForgetAllKeys();
  }
  void BarrierArrived(SlotId slot) override {
    barriers_.Arrived(slot);
    ForgetAllKeys();
  }
  void BarrierReleased(BlockId block) override {
    barriers_.Released(block);
    ForgetAllKeys();
  }

  static std::vector<CounterSpec> Counters() {
    return HistoryCounterSpecsAnd(
        {{"issues_barrier", "issues", "fast phase: of blocks with a warp at a barrier"},
         {"issues_older_iteration", "issues", "fast phase: of blocks in two iterations, in the older one"},
         {"issues_same_iteration", "issues", "fast phase: of blocks in one iteration"},
         {"issues_newer_iteration", "issues", "fast phase: of blocks in two iterations, in the newer one"},
         {"issues_slow", "issues", "slow phase"}});
  }

 private:
  enum Class : uint8_t { kBarrier, kOlder, kSame, kNewer, kSlow, kCounters };
  struct Block {
    uint32_t group = 0;
    uint64_t iteration = 0;
    int64_t live = 0;  // warps that have come and not exited
  };
  // What the paper calls a thread block: a block, or a virtual one with the blocks of its last two iterations.
  static constexpr BlockId kNone = 0xffff;
  struct Group {
    BlockId older = kNone;
    BlockId newer = kNone;
    uint64_t sequence = 0;  // of dispatch
    int64_t progress = 0;
  };
  // Smaller goes first.
  struct BlockKey {
    uint64_t rank = 0;  // class, and within it by a count
    int64_t second = 0;
    uint64_t sequence = 0;
    auto operator<=>(const BlockKey&) const = default;
    Class class_of() const { return static_cast<Class>(rank >> kCountBits); }
  };
  static constexpr int kCountBits = 60;
  static uint64_t RankOf(Class class_of, int64_t count) {
    return (uint64_t{class_of} << kCountBits) + (uint64_t{1} << (kCountBits - 1)) + static_cast<uint64_t>(count);
  }
  struct WarpKey {
    int64_t progress = 0;
    uint32_t hw_warp = 0;
    uint64_t formed = 0;
    auto operator<=>(const WarpKey&) const = default;
  };

  uint32_t HwWarpOf(SlotId slot) const {
    const Lanes& lanes = table_.lanes[slot];
    return lanes.thread[std::countr_zero(lanes.mask)] / warp_size_;
  }
  int64_t Waiting(const Group& group) const {
    uint64_t waiting = 0;
    for (const BlockId id : {group.older, group.newer}) waiting += id == kNone ? 0 : barriers_.waiting(id);
    return static_cast<int64_t>(waiting);
  }
  int64_t Live(BlockId id) const { return id == kNone ? 0 : blocks_[id].live; }

  Class ClassOf(BlockId id) const {
    const Group& group = groups_[blocks_[id].group];
    if ((!slow_ || barriers_first_when_slow_) && Waiting(group) != 0) return kBarrier;
    if (slow_) return kSlow;
    if (Live(group.older) == 0) return kSame;
    return group.older == id ? kOlder : kNewer;
  }

  BlockKey MakeKey(BlockId id) const {
    const Group& group = groups_[blocks_[id].group];
    switch (ClassOf(id)) {
      case kBarrier:
        return {RankOf(kBarrier, -Waiting(group)), -group.progress, group.sequence};
      case kOlder:
        return {RankOf(kOlder, Live(group.older)), 0, group.sequence};
      case kSame:
        return {RankOf(kSame, -group.progress), 0, group.sequence};
      case kNewer:
        return {RankOf(kNewer, -blocks_[id].live), 0, group.sequence};
      default:
        return {RankOf(kSlow, group.progress), 0, group.sequence};
    }
  }
  // A block's key changes when something happens to it, not from warp to warp.
  const BlockKey& KeyOfBlock(BlockId id) const {
    if (known_[id] != epoch_) {
      keys_[id] = MakeKey(id);
      known_[id] = epoch_;
    }
    return keys_[id];
  }
  void ForgetKeys(const Group& group) {
    if (group.older != kNone) known_[group.older] = 0;
    if (group.newer != kNone) known_[group.newer] = 0;
  }
  void ForgetAllKeys() { ++epoch_; }
  WarpKey KeyOfWarp(SlotId slot, const BlockKey& block) const {
    const uint32_t hw_warp = HwWarpOf(slot);
    const int64_t progress = block.class_of() == kSame ? -progress_[hw_warp] : progress_[hw_warp];
    return {progress, hw_warp, table_.formed[slot]};
  }

  const WarpTable& table_;
  const uint32_t warp_size_;
  const bool barriers_first_when_slow_;
  BarrierTable barriers_;
  std::vector<Block> blocks_;      // by block on the SM
  std::vector<Group> groups_;      // by block on the SM; behind them the virtual blocks by place
  std::vector<int64_t> progress_;  // by hardware warp
  bool slow_ = false;
  // By block: its key, and the epoch in which it was worked out; 0 = it has changed since.
  mutable std::vector<BlockKey> keys_;
  mutable std::vector<uint64_t> known_;
  uint64_t epoch_ = 1;
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "progress",
        .summary = "Progress-aware (VTW): blocks with waiting warps, then stragglers, then the most advanced",
        .source = "Anantpur and Govindarajan (VTW), section 4.3.2 and Algorithm 1",
        .parameters = {{.name = "slow",
                        .type = ParameterType::kChoice,
                        .default_value = "flat",
                        .choices = {"flat", "barriers_first"},
                        .description = "in the slow phase: only progress counts, or blocks with a warp at a barrier "
                                       "still go first",
                        .source = "the paper does not say whether its classes persist"}},
        .counters = ProgressAware::Counters(),
    },
    [](const SchedulerContext& context, const Parameters& parameters) {
      return std::make_unique<ProgressAware>(context, parameters);
    });

HEDDLE_POLICY_STORAGE("scheduler", "progress",
                      PolicyStorage{
                          .source = "Anantpur and Govindarajan (VTW), section 4.5: 456 bytes",
                          .items = [](const StorageContext& context, const Parameters&) -> std::vector<StorageItem> {
                            return {{"warps in the next iteration", context.max_blocks, 8, "count, per block"},
                                    {"progress of warps", context.warps(), 32, "instructions"},
                                    {"progress of blocks", context.max_blocks, 32, "instructions"},
                                    {"iterations of warps", context.warps(), 32, "iteration"},
                                    {"iterations of blocks", context.max_blocks, 32, "the lowest that is active"}};
                          }});

}  // namespace
}  // namespace heddle::replay
