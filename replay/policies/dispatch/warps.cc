// Warp-level dispatch: a warp enters as soon as there is room for one.
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "replay/policies/dispatch/shared/cluster_places.h"
#include "replay/seams/block_dispatcher.h"

namespace heddle::replay {
namespace {

// Xiang, Yang and Zhou (HPCA 2014), as their abstract and section 6 of the VTW paper describe it: registers and the
// place of a warp are free when it ends, shared memory when its block does; a block that has come in part is completed
// before another one begins. Blocks of clusters of several blocks come whole: a block that is there in part could wait
// for warps of a cluster that waits for it.
class WarpDispatcher final : public BlockDispatcher {
 public:
  explicit WarpDispatcher(const DispatchContext& context) : context_(context), sms_(context.sms), places_(context) {
    for (Sm& sm : sms_) {
      sm.free.assign(context.hw_warps_per_sm, true);
      sm.free_hw_warps = context.hw_warps_per_sm;
    }
  }

  std::optional<WarpAssignment> NextWarp(Cycle first) override {
    if (first != planned_for_) {
      planned_for_ = first;
      if (context_.cluster_blocks == 1) {
        Plan();
      } else {
        PlanClusters();
      }
    }
    if (planned_.empty()) return std::nullopt;
    const WarpAssignment assignment = planned_.front();
    planned_.pop_front();
    return assignment;
  }

  Cycle NextFirst() const override { return more_ ? planned_for_ + 1 : kNever; }

  void WarpEnded(uint32_t sm, uint32_t hw_warp, Cycle /*first*/) override {
    sms_[sm].free[hw_warp] = true;
    ++sms_[sm].free_hw_warps;
  }
  void Retired(uint32_t sm, uint64_t /*block*/) override { --sms_[sm].blocks; }

  bool done() const override { return next_ == context_.blocks && partial_blocks_ == 0; }
  std::span<const uint64_t> counters() const override { return counters_; }

 private:
  enum Counter { kPartialBlocks, kCounters };

  struct Sm {
    std::vector<bool> free;  // by hardware warp
    uint32_t free_hw_warps = 0;
    uint32_t blocks = 0;  // there, whole or in part
    bool partial = false;
    uint64_t block = 0;      // that is there in part
    uint32_t next_warp = 0;  // of it
  };

  bool Takes(const Sm& sm) const {
    if (sm.free_hw_warps == 0) return false;
    return sm.partial || (next_ != context_.blocks && sm.blocks < context_.partial_blocks_per_sm);
  }

  // Warps of one block per SM and cycle, as whole blocks are dispatched (our choice), SMs in turn.
  void Plan() {
    const uint32_t start = turn_;
    for (uint32_t i = 0; i < context_.sms; ++i) {
      const uint32_t index = (start + i) % context_.sms;
      Sm& sm = sms_[index];
      if (!Takes(sm)) continue;
      turn_ = (index + 1) % context_.sms;
      if (!sm.partial) {
        sm.partial = true;
        sm.block = next_++;
        sm.next_warp = 0;
        ++sm.blocks;
        ++partial_blocks_;
        if (sm.free_hw_warps < context_.warps_per_block) ++counters_[kPartialBlocks];
      }
      PlanWarps(index);
      if (sm.next_warp == context_.warps_per_block) {
        sm.partial = false;
        --partial_blocks_;
      }
    }
    more_ = false;
    for (const Sm& sm : sms_) more_ |= Takes(sm);
  }

  // Warps of the SM's block that are left go to its free hardware warps.
  void PlanWarps(uint32_t index) {
    Sm& sm = sms_[index];
    for (uint32_t hw_warp = 0; hw_warp < context_.hw_warps_per_sm && sm.next_warp < context_.warps_per_block;
         ++hw_warp) {
      if (!sm.free[hw_warp]) continue;
      sm.free[hw_warp] = false;
      --sm.free_hw_warps;
      planned_.push_back({index, sm.block, sm.next_warp++, hw_warp, 0, std::nullopt});
    }
  }

  // Whole blocks, of one cluster per SM and cycle.
  void PlanClusters() {
    std::vector<bool> taken(context_.sms);
    const auto room = [&](uint32_t index) {
      const Sm& sm = sms_[index];
      return taken[index]
                 ? 0u
                 : std::min(context_.partial_blocks_per_sm - sm.blocks, sm.free_hw_warps / context_.warps_per_block);
    };
    more_ = false;
    while (next_ != context_.blocks) {
      const std::span<const uint32_t> cluster = places_.Next(room);
      if (cluster.empty()) return;
      for (const uint32_t index : cluster) {
        Sm& sm = sms_[index];
        taken[index] = more_ = true;  // in the next cycle there may be room again
        sm.block = next_++;
        sm.next_warp = 0;
        ++sm.blocks;
        PlanWarps(index);
      }
    }
  }

  const DispatchContext context_;
  std::vector<Sm> sms_;
  ClusterPlaces places_;                // of clusters of several blocks
  std::deque<WarpAssignment> planned_;  // for planned_for_
  Cycle planned_for_ = kNever;
  bool more_ = false;  // some SM could take more warps in the next cycle
  uint64_t next_ = 0;  // block of the grid
  uint64_t partial_blocks_ = 0;
  uint32_t turn_ = 0;  // SM to ask first
  std::array<uint64_t, kCounters> counters_{};
};

HEDDLE_BLOCK_DISPATCHER(
    PolicyInfo{
        .name = "warps",
        .summary = "Single warps: one enters as soon as there is room for one, blocks may be there in part",
        .source = "Xiang, Yang and Zhou (HPCA 2014), as the VTW paper describes it in section 6",
        .traits = {.warp_dispatch = WarpDispatch{}},
        .counters = {{"partial_blocks", "blocks", "blocks that began with only some of their warps"}},
    },
    [](const DispatchContext& context, const Parameters&) { return std::make_unique<WarpDispatcher>(context); });

}  // namespace
}  // namespace heddle::replay
