// What the instructions of machine code say of convergence barriers, as a policy that follows them reads it.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_CONVERGENCE_CODE_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_CONVERGENCE_CODE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "replay/seams/types.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// What one instruction does with barriers.
struct ConvergenceStep {
  enum class Kind : uint8_t {
    kSet,       // BSSY
    kSync,      // BSYNC
    kBreak,     // BREAK
    kWarpSync,  // WARPSYNC
    kYield,     // YIELD
    kSave,      // BMOV from a barrier to a general register
    kRestore,   // BMOV back
  };

  Pc pc = 0;
  Kind kind = Kind::kSet;
  bool clears = false;   // kSave: the barrier's register names nothing afterwards
  uint8_t barrier = 0;   // number of the barrier's register
  uint8_t general = 0;   // kSave, kRestore: number of the general register
  LaneMask members = 0;  // kWarpSync: the lanes of its mask; 0 if the trace does not tell

  // Threads may have to wait behind it, or to let others run.
  bool may_hold() const { return kind == Kind::kSync || kind == Kind::kWarpSync || kind == Kind::kYield; }
};

// The steps of a program, by basic block, and which decisions are guards. Says nothing of single threads.
class ConvergenceCode {
 public:
  explicit ConvergenceCode(const trace::Program& program);

  // The steps of the block from `first` to `last`, both included, in their order.
  std::span<const ConvergenceStep> StepsOf(uint32_t block, Pc first, Pc last) const;

  // Where threads that begin to run at `from` have to be stopped within its block: behind the first instruction that
  // may hold them. Exit() if there is none; the end of a block is no such place.
  Position StopBehind(Position from) const;

  // Whether the end of the block decides on a guard: threads that go past the guarded block meet the others at its end,
  // as on the machine, where all of them issue it.
  bool IsGuard(uint32_t block) const { return is_guard_[block]; }

 private:
  void Add(const trace::v1::Function& function, Pc pc);

  const trace::Program& program_;
  std::vector<ConvergenceStep> steps_;  // ascending by PC
  std::vector<uint32_t> first_step_;    // by block, and one more: in steps_
  std::vector<bool> is_guard_;          // by block
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_CONVERGENCE_CODE_H_
