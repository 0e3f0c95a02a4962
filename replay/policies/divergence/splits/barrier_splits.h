// Static warps whose splits meet where the code's own convergence barriers say so, and nowhere else.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_SPLITS_BARRIER_SPLITS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_SPLITS_BARRIER_SPLITS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "replay/policies/divergence/shared/convergence_barriers.h"
#include "replay/policies/divergence/shared/convergence_code.h"
#include "replay/seams/divergence_policy.h"

namespace heddle::replay {

// A warp is a list of splits, sets of threads with a position each, of which one runs. Where it parts, waits, yields or
// ends, another one goes on: of those that could, the one whose last yield is longest ago, the latest of several.
//
// * BSSY makes the split's threads the members of a barrier. At BSYNC a split waits until all members wait there or
//   have left; they go on as one.
// * BREAK takes threads out of a barrier, and so does their end. BMOV copies which barrier a register names.
// * WARPSYNC waits for the threads of its mask, at most until no other split of the warp can move.
// * YIELD lets another split go on.
// * Threads whose guard is false stay with their split, and go past the guarded instructions.
//
// What an instruction does takes effect where its split is asked: behind it if threads may have to wait there, else at
// the end of its block or where the split waits at a barrier of the thread block.
class BarrierSplitsPolicy final : public DivergencePolicy {
 public:
  struct Options {
    bool taken_first = true;  // the taken path of a conditional branch runs before the fall-through
    bool yields_at_backward_branches = false;
    bool yields_at_block_ends = false;
    bool yields_to_memory = false;
  };

  // Branches at which a warp parted, most splits of a warp, times a split ran because another waited at a barrier of
  // the thread block, times a split gave way to another that could run.
  enum Counter { kDivergences, kMostSplits, kBarrierSwitches, kYields, kCounters };

  BarrierSplitsPolicy(const DivergenceContext& context, const Options& options);

  uint32_t interests() const override;
  void Admit(const BlockAdmission& admission, WarpEditor& editor) override;
  Verdict Resolve(const Resolution& resolution, WarpEditor& editor) override;
  void BarrierArrived(SlotId slot, uint32_t barrier, WarpEditor& editor) override;
  bool BarrierReleased(SlotId slot, uint32_t barrier, WarpEditor& editor) override;
  void LongLatency(SlotId slot, WarpEditor& editor) override;
  std::span<const uint64_t> counters() const override { return counters_; }
  // The splits of diverged warps, as (next PC, lanes, what they wait for), and their barriers.
  std::string Explain(const WarpTable& table) const override;

 private:
  enum class State : uint8_t {
    kReady,
    kRuns,
    kAtBlockBarrier,  // has a slot, and waits for others of the thread block or for a matrix instruction
    kSync,            // behind a BSYNC
    kWarpSync,        // behind a WARPSYNC
  };
  struct Split {
    Position next;  // where it began to run, or goes on
    LaneMask mask = 0;
    LaneMask beside = 0;  // of these, threads that are at `past`, while the others run what is guarded
    Position past;
    SlotId slot = kNoSlot;
    State state = State::kReady;
    bool stalled = false;  // runs, but waits for memory
    LaneMask members = 0;  // kWarpSync: of its mask; 0 if that is not known
    uint64_t turn = 0;     // when it yielded last
  };
  using Splits = absl::InlinedVector<Split, 2>;  // most warps have one
  struct Warp {
    Splits splits;  // the latest last
    ConvergenceBarriers barriers;
  };

  static bool Waits(const Split& split) { return split.state == State::kSync || split.state == State::kWarpSync; }
  // Whoever could start, and none runs but such as wait for memory.
  static bool AnyReady(const Warp& warp);
  static size_t IndexOf(const Warp& warp, SlotId slot);
  // The split to start now; the number of splits if there is none. Lets threads go on that wait at a WARPSYNC if nobody
  // else can move.
  size_t Next(Warp& warp);

  // What the split's running threads have done up to `last`, from its `next` on; `executed`: those whose guard, if
  // there is one, holds. Returns the step that may hold them; null if there is none.
  const ConvergenceStep* Take(Warp& warp, size_t& index, Position last, LaneMask executed);
  static bool Passes(const ConvergenceStep& hold, const Split& split, Warp& warp);
  // The slot goes on at once, if nothing holds its split; false if the warp has to be looked at.
  bool GoesOn(const Resolution& resolution, const ConvergenceStep* hold, Warp& warp, Split& split, WarpEditor& editor);
  // Some threads of the split run what is guarded, and the others are beside them.
  static void TakeGuard(std::span<const PathGroup> groups, Split& split);
  // By an option, not by the code.
  bool Yields(const Resolution& resolution, const Warp& warp) const;
  // Threads beside a guarded block are a split of their own from now on. `index` stays the split's.
  static void PartBeside(Warp& warp, size_t& index);
  // The split takes the paths of the resolution, and waits where `hold` says so.
  void Advance(const Resolution& resolution, const ConvergenceStep* hold, Warp& warp, size_t index);
  static void Sync(const Split& split, uint8_t barrier, Warp& warp, size_t& index);
  // Barriers whose members all wait let them go.
  void Release(Warp& warp);
  // Splits that wait and have these lanes are ready, those at one position as one.
  void Rejoin(Warp& warp, LaneMask lanes);

  void Start(Split& split, uint32_t hw_warp, SlotId slot, WarpEditor& editor);
  size_t StartMore(Warp& warp, SlotId slot, WarpEditor& editor);

  const ConvergenceCode code_;
  const trace::Program& program_;
  const int warp_size_;
  const Options options_;
  std::vector<Warp> warps_;  // by hardware warp
  Splits joined_;            // scratch
  uint64_t turns_ = 0;
  std::array<uint64_t, kCounters> counters_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SPLITS_BARRIER_SPLITS_H_
