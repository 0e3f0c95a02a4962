// The convergence barriers of one warp, as machine code sets and waits at them.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_CONVERGENCE_BARRIERS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_CONVERGENCE_BARRIERS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// A barrier has members, the threads that are to meet, and those of them that wait. The hardware has 16 registers per
// warp with a mask each. Here a register names a barrier, thread by thread: a copy to a general register and back
// keeps which one it is, whatever threads have exited or broken away meanwhile, and two splits of a warp may use one
// register for barriers of their own. For code that saves a register before it is set anew the two are the same.
//
// A thread is a member of each barrier that one of its registers, or a copy of one, names, until it has waited there,
// breaks away, ends, or sets the register anew without a copy.
class ConvergenceBarriers {
 public:
  // Which barrier; 0 is none.
  using Id = uint64_t;

  // A new warp: no barriers.
  void Reset();

  // BSSY: the lanes are the members of a new barrier, which their register names.
  void Set(uint8_t barrier, LaneMask lanes);
  // The barrier that the register names for the lowest of the lanes, if that is a member of it; else 0. Of `lanes`
  // those are kept for which the answer is the same.
  Id Find(uint8_t barrier, LaneMask& lanes) const;
  // Who is to meet there; 0 if there is no such barrier any more.
  LaneMask MembersOf(Id id) const;
  // BSYNC: the lanes, members of the barrier, wait.
  void Wait(Id id, LaneMask lanes);
  // BREAK: the lanes are members no more of what their register names.
  void Break(uint8_t barrier, LaneMask lanes);
  // The lanes have ended.
  void Exit(LaneMask lanes);
  // If all members of some barrier wait, it is gone, and they are returned; else 0. The oldest first.
  LaneMask TakeComplete();
  // Drops a barrier whose members need not wait.
  void Remove(Id id);

  // BMOV: the general register at this call depth names what the barrier's register does; `clears`: that names nothing
  // from now on.
  void Save(uint8_t barrier, uint32_t depth, uint8_t general, LaneMask lanes, bool clears);
  // BMOV back. Code may have moved the copy to another general register or to the stack, which is not seen here: then
  // it is the latest copy of this barrier's register at this depth; without any, the register names nothing.
  void Restore(uint8_t barrier, uint32_t depth, uint8_t general, LaneMask lanes);
  // The lanes return from a call at this depth: what they have saved there is gone.
  void Return(uint32_t depth, LaneMask lanes);
  bool any_saved() const { return !saved_.empty(); }

  // "B0: 3 of 5 wait" for a report; empty if there is nothing.
  std::string Text() const;

 private:
  struct Live {
    Id id = 0;
    LaneMask members = 0;
    LaneMask waiting = 0;
  };
  struct Name {
    Id id = 0;
    LaneMask lanes = 0;
    uint8_t barrier = 0;
  };
  struct Saved {
    Id id = 0;
    LaneMask lanes = 0;
    uint32_t depth = 0;
    uint8_t general = 0;
    uint8_t barrier = 0;
  };

  // In live_; its size if the barrier is no more.
  size_t IndexOf(Id id) const;
  void Leave(Id id, LaneMask lanes);
  // The register names nothing any more for the lanes; `leaves`: they leave what nothing else names for them.
  void Forget(uint8_t barrier, LaneMask lanes, bool leaves);
  LaneMask NamedElsewhere(Id id) const;

  absl::InlinedVector<Live, 2> live_;   // in the order in which they were set
  absl::InlinedVector<Name, 2> names_;  // lanes of one register are disjoint
  std::vector<Saved> saved_;            // the latest last
  Id latest_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_SHARED_CONVERGENCE_BARRIERS_H_
