// Static warps whose diverged paths rejoin at the branch's reconvergence point, in whatever order the paths run.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_SPLITS_SPLIT_STACK_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_SPLITS_SPLIT_STACK_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "replay/policies/divergence/shared/home_lanes.h"
#include "replay/policies/divergence/shared/reconvergence_points.h"
#include "replay/seams/divergence_policy.h"

namespace heddle::replay {

// The reconvergence stack of Fung's thesis (section 3.2, Table 3.1), generalised: an entry may run as soon as none of
// its threads are in an entry above it. A policy that only ever starts the topmost such entry is the stack (PDOM); one
// that starts several has warp splits that run side by side and wait for each other at the reconvergence point, which
// is what a convergence barrier does.
//
// A policy derives from this and says which entry starts next. Counters: the policy's own, the first kStackCounters of
// which are kept here.
class SplitStackPolicy : public DivergencePolicy {
 public:
  struct Options {
    bool taken_first = true;  // the taken path of a conditional branch is on top of the fall-through
    size_t depth = 0;         // entries that a warp may have; 0 = twice the warp size, which is always enough
    // Where the paths of a branch meet at the point for which its own entry waits, they take its place instead of
    // being stacked on it. Changes no schedule of a stack. One path alone always takes its entry's place.
    bool merge_tails = true;
    ReconvergenceSource reconvergence = ReconvergenceSource::kPostDominator;  // kFrontier: not here
  };

  // Divergences, deepest stack (a maximum), times a path ran because another of the warp waited at a barrier.
  enum StackCounter { kDivergences, kMaxStackDepth, kBarrierSwitches, kStackCounters };

  SplitStackPolicy(const DivergenceContext& context, const Options& options, size_t counters);

  uint32_t interests() const override { return kBarriers; }
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override;
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override;
  void BarrierArrived(SlotId slot, uint32_t barrier, WarpEditor& editor) override;
  bool BarrierReleased(SlotId slot, uint32_t barrier, WarpEditor& editor) override;
  std::span<const uint64_t> counters() const override { return counters_; }
  // The stacks of diverged warps from bottom to top, as (next PC, reconvergence PC, lanes), the first ones only.
  std::string Explain(const WarpTable& table) const override;

 protected:
  struct Entry {
    Position next;
    Position rpc;  // reconvergence point: where the entry's threads leave it
    LaneMask mask = 0;
    SlotId slot = kNoSlot;  // where the entry's threads are, if it runs or waits at a thread-block barrier
    bool at_barrier = false;
    bool stalled = false;   // runs, but waits for memory: a mark for the policy, gone when the entry resolves
    bool together = false;  // a mark for the policy: may run beside its siblings
    uint32_t branch = 0;    // which divergence made it; entries of one divergence are siblings
    uint64_t turn = 0;      // a mark for the policy: when it yielded last
  };
  // From the bottom of the stack to its top. Entries that were pushed together have disjoint masks; each mask is a
  // subset of the one of the entry that waits for it. Most warps have one entry, which lies in the stack itself.
  using WarpStack = absl::InlinedVector<Entry, 1>;

  // The entry to start now, or warp.size() if none: of those that CanStart. Asked again until there is none. The base's
  // answer is the stack's: the topmost, unless an entry runs.
  virtual size_t Next(const WarpStack& warp) const;
  // Entries were pushed by a divergence; they are [first, first + count). `rpc` is where they meet.
  virtual void Pushed(WarpStack& /*warp*/, size_t /*first*/, size_t /*count*/, Position /*rpc*/) {}
  // A slot resolves at one position that is not its stop. True if the entry is to yield: it is as any other entry
  // that could start.
  virtual bool Yields(const Resolution& /*resolution*/, WarpStack& /*warp*/, size_t /*index*/) { return false; }

  static bool Runs(const Entry& entry) { return entry.slot != kNoSlot && !entry.at_barrier; }
  // Calls function(index, entry) from top to bottom for every entry that neither runs nor waits, until it returns true.
  template <typename Function>
  static void ForEachStartable(const WarpStack& warp, Function function) {
    LaneMask above = 0;
    for (size_t i = warp.size(); i-- > 0;) {
      const Entry& entry = warp[i];
      if (entry.slot == kNoSlot && (entry.mask & above) == 0 && function(i, entry)) return;
      above |= entry.mask;
    }
  }

  WarpStack& WarpOf(SlotId slot, const WarpTable& table) { return warps_[table.group[slot]]; }
  // Index of the entry that is in `slot`; the stack's size if there is none.
  static size_t IndexOf(const WarpStack& warp, SlotId slot);
  // Starts what Next says, in new slots that share a port with `slot`, a slot of the warp. Returns how many.
  size_t StartMore(WarpStack& warp, SlotId slot, WarpEditor& editor);
  // Stops an entry that runs: at once if it is not in flight, else when its instruction is done, unless that ends a
  // block and the policy does not ask for block ends. False if it was to stop there already.
  static bool Halt(Entry& entry, WarpEditor& editor);
  // Lanes of a hardware warp as the editor takes them.
  Lanes LanesOf(uint32_t hw_warp, LaneMask mask) const { return HomeLanes(hw_warp, mask, warp_size_); }
  uint32_t NewBranch() { return ++branches_; }
  void Raise(size_t counter, uint64_t value);

  const trace::Program& program_;
  const int warp_size_;
  std::vector<uint64_t> counters_;

 private:
  // Replaces the running entry by one per path. Returns the lanes that are at the reconvergence point already: they get
  // no entry, their threads wait in the entry below.
  LaneMask Diverge(const Resolution& resolution, WarpStack& warp, size_t index);
  static LaneMask PopReconverged(WarpStack& warp);
  // Lets the entry's threads run, in `slot` if there is one; else in a new one, which is to be offered.
  void Start(Entry& entry, uint32_t hw_warp, SlotId slot, WarpEditor& editor);
  std::string LaneText(LaneMask mask) const;

  const Options options_;
  const ReconvergencePoints points_;
  std::vector<WarpStack> warps_;  // by hardware warp
  uint32_t branches_ = 0;
};

// What every policy on a split stack declares first.
ParameterSpec TakenFirstParameter();
std::vector<CounterSpec> StackCounterSpecs(std::vector<CounterSpec> further = {});

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SPLITS_SPLIT_STACK_H_
