// Static warps whose diverged paths run in the order of their PCs, so that they meet as early as the layout allows.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_SPLITS_FRONTIER_WARPS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_SPLITS_FRONTIER_WARPS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "replay/policies/divergence/shared/home_lanes.h"
#include "replay/policies/divergence/shared/reconvergence_points.h"
#include "replay/seams/divergence_policy.h"

namespace heddle::replay {

// A warp is a list of splits, (place, lanes), in which no two are at the same reconvergence point when a block ends.
// The splits of highest priority run, up to `paths` of them: those of the greatest call depth, then of the lowest PC.
// That is re-convergence at thread frontiers (Diamos et al., MICRO 2011) where PCs are in reverse post-order, as they
// are in captured programs: blocks that may hold waiting threads have higher PCs than the block that runs.
class FrontierPolicy : public DivergencePolicy {
 public:
  struct Options {
    size_t paths = 1;  // splits of a warp that may run side by side
    // With several paths: a split of lower priority waits at a reconvergence point while the first one is between that
    // point and the branch that it belongs to.
    bool synchronise = false;
    // Where splits may meet. With anything but kFrontier several may be at one place and stay apart.
    ReconvergenceSource reconvergence = ReconvergenceSource::kFrontier;
  };
  // Divergences, splits that met another, most splits of one warp (a maximum), paths that ran because another waited at
  // a barrier.
  enum FrontierCounter { kDivergences, kMerges, kMaxSplits, kBarrierSwitches, kFrontierCounters };

  FrontierPolicy(const DivergenceContext& context, const Options& options, size_t counters);

  uint32_t interests() const override { return kBarriers | kEveryBlockEnd; }
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override;
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override;
  void BarrierArrived(SlotId slot, uint32_t barrier, WarpEditor& editor) override;
  bool BarrierReleased(SlotId slot, uint32_t barrier, WarpEditor& editor) override;
  std::span<const uint64_t> counters() const override { return counters_; }
  // The splits of diverged warps as (PC, number of lanes), the first warps only.
  std::string Explain(const WarpTable& table) const override;

 protected:
  std::vector<uint64_t> counters_;

 private:
  struct Split {
    Position at;  // while it does not run
    LaneMask mask = 0;
    SlotId slot = kNoSlot;  // where its threads are, if it runs or waits at a thread-block barrier
    bool at_barrier = false;
  };
  using WarpSplits = std::vector<Split>;

  static bool Runs(const Split& split) { return split.slot != kNoSlot && !split.at_barrier; }
  static Position PlaceOf(const Split& split, const WarpTable& table) {
    return split.slot == kNoSlot ? split.at : table.position[split.slot];
  }
  static bool Before(Position a, Position b) { return a.depth() != b.depth() ? a.depth() > b.depth() : a < b; }
  static size_t IndexOf(const WarpSplits& warp, SlotId slot);
  // Threads come to a place: they join a split that rests there, or are a new one.
  void Enter(WarpSplits& warp, uint32_t hw_warp, Position at, LaneMask lanes, WarpEditor& editor);
  // Starts and stops splits so that the first ones run. `free` is a resolving slot to place a split in; it is dissolved
  // if none needs it. Returns how many have started.
  size_t Arrange(WarpSplits& warp, uint32_t hw_warp, SlotId free, uint8_t port, WarpEditor& editor);
  // Fills order_ with the splits that may run, by priority; at most `paths`.
  void Choose(const WarpSplits& warp, const WarpTable& table);
  bool MustWait(Position at, Position first) const;
  Lanes LanesOf(uint32_t hw_warp, LaneMask mask) const { return HomeLanes(hw_warp, mask, warp_size_); }

  const trace::Program& program_;
  const int warp_size_;
  const Options options_;
  const ReconvergencePoints points_;
  std::vector<WarpSplits> warps_;  // by hardware warp
  // By block: the last instruction of the first branch that reconverges at the block; kNoPc if none does.
  std::vector<Pc> diverging_;
  std::vector<size_t> order_;
};

std::vector<CounterSpec> FrontierCounterSpecs(std::vector<CounterSpec> further = {});

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SPLITS_FRONTIER_WARPS_H_
