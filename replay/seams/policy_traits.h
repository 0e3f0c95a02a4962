// What the engine and policies of other seams have to know of a policy.
#ifndef HEDDLE_REPLAY_SEAMS_POLICY_TRAITS_H_
#define HEDDLE_REPLAY_SEAMS_POLICY_TRAITS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "replay/seams/types.h"

namespace heddle::replay {

// When a divergence policy may put threads of different static warps into one warp. Each
// value allows what those before it allow.
enum class Regrouping : uint8_t {
  kNever,             // all threads of a slot are of one static warp
  kAtDivergence,      // where paths part or meet
  kPartialWarps,      // also where nothing diverges: threads of a full warp may fill up a partial one
  kEveryInstruction,  // warps are formed anew after every instruction, and several slots may be at one PC
};

// In which lanes of a warp a divergence policy may put a thread.
struct LaneRule {
  bool any = false;  // in any lane; else in its home lane only
  // Home lanes are swizzled (Fung, section 4.1): thread t of a block belongs to lane (t mod W) xor (t / W mod 2)
  // instead of t mod W, with W threads in a warp.
  bool swizzled = false;
};

// Whose a register with a write pending is, under front ends with a scoreboard: who may not use it until then.
enum class ScoreboardScope : uint8_t {
  kWarp,     // all threads of the hardware warp; of a slot with threads of several, the slot's
  kSubWarp,  // the threads that the slot had when it issued the write
  kThread,   // those of them that carry it out, each until its own data have come
};

// The scoreboards that a divergence policy asks for.
struct ScoreboardRule {
  ScoreboardScope scope = ScoreboardScope::kWarp;
  // kSubWarp: how many scoreboards a warp has in hardware. It counts as storage only; 0: as many as a warp has threads.
  uint32_t per_warp = 0;
};

// What a dispatcher does that gives SMs single warps instead of whole blocks.
struct WarpDispatch {
  // A warp may have to wait for others of its block elsewhere than at a barrier, which a scheduler that holds warps
  // back does not see.
  bool waits_for_siblings = false;
  // Registers that a thread takes beyond those of the recorded kernel.
  uint32_t extra_registers = 0;
};

// Members of other seams keep their defaults.
struct PolicyTraits {
  // --- all seams
  // Uses objects that outlive a launch (SharedState): the launches of a trace are run one after the other under every
  // configuration that has the policy.
  bool state_outlives_launch = false;
  // --- divergence
  Regrouping regrouping = Regrouping::kAtDivergence;
  LaneRule lanes = {};
  // One issue may hold several PCs (MIMD), so bounds for warps do not hold.
  bool mixed_pcs = false;
  // Threads of a warp that have come to the immediate post-dominator of a branch wait there until all others of the
  // warp come, for however long that takes.
  bool waits_at_post_dominators = false;
  // Follows the convergence barriers of machine code (OP_CONVERGENCE), so that only such programs can be replayed.
  bool follows_convergence_barriers = false;
  ScoreboardRule scoreboard = {};
  // Cycles that forming a warp takes; the conformance tests leave out what depends on it.
  Cycle formation_cycles = 0;
  // --- dispatch
  // There if single warps are given, so that threads of different static warps cannot be put together.
  std::optional<WarpDispatch> warp_dispatch = {};
  // --- schedulers
  // May let no warp issue though some could.
  bool holds_back = false;
  // Why the scheduler goes only with a policy that regroups after every instruction; empty: it goes with all.
  std::string needs_regrouping = {};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_POLICY_TRAITS_H_
