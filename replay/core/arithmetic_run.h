// Stretches in which an SM does nothing but arithmetic and branches whose threads stay together.
#ifndef HEDDLE_REPLAY_CORE_ARITHMETIC_RUN_H_
#define HEDDLE_REPLAY_CORE_ARITHMETIC_RUN_H_

#include <array>
#include <cstdint>
#include <vector>

#include "replay/core/ibuffer_core.h"

namespace heddle::replay {

// A quick second way to run cycles of an IBufferCore, which remains the rule that this must come to: equal in every
// counter and in every call of scheduler, fetch policy and divergence policy (tests compare them). It pays where an SM
// runs alone, which is when kernels compute.
//
// Enter takes over what changes with every instruction: the scoreboard's words, what warps stand for, and the results
// to come, in a form that needs no questions, since Enter has asked them all. Every other thing stays where it is. As
// soon as something else is to happen (memory, a barrier, a divergence, an exit), all is given back, and the core goes
// on in the middle of that cycle.
class ArithmeticRun {
 public:
  // The core must be able to (IBufferCore::arithmetic_) and outlive this.
  explicit ArithmeticRun(IBufferCore& core);

  // Runs cycles from `next` on that come before `limit`; in none of them may anything come from the memory. Returns the
  // next cycle that something can happen in, which has not been run, and sets `until` to the cycle after the last one
  // that was run. Does nothing, and returns `next`, where it would not pay.
  Cycle Run(Cycle next, Cycle limit, Cycle& until);

 private:
  static constexpr int kSlots = 64;
  static constexpr uint32_t kNone = ~uint32_t{0};
  // Ready warps by what they need. kOther: anything that is not for here.
  enum Need : uint8_t { kSp, kSfu, kOther };
  static constexpr int kNeeds = 3;

  // What is known of a slot beyond IBufferCore::Warp, which stays in use.
  struct Warp {
    uint64_t pending = 0;  // registers of its row with a write pending
    Cycle since = 0;       // as in WarpStandings
    uint32_t groups = 0;   // of lanes that its instructions are issued in
    Pc stop = 0;           // where the policy wants to be asked; ~0: nowhere
    uint8_t state = 0;     // its WarpClass
    Need need = kOther;    // structural
    uint8_t port = 0;
  };
  // A result to come.
  struct Result {
    uint32_t next = kNone;  // of the same cycle
    Pc pc = 0;
    uint8_t slot = 0;
    bool branch = false;
  };
  struct List {
    uint32_t head = kNone;
    uint32_t tail = kNone;
  };

  // Whether everything is as it has to be; if so, takes over.
  bool Enter(Cycle next);
  bool TakeWarps();
  bool TakeResults();
  // Gives everything back; the cycles before `now` have been run, and of `now` the results that are not left.
  void Leave(Cycle now);

  // The parts of a cycle. TakeDue is false if the next result is not for here.
  bool TakeDue(Cycle now);
  bool Branch(SlotId slot);
  void Select(Cycle now);
  void Issue(int port, SlotId slot, Cycle now);
  void Decode();
  void Fetch(Cycle now);
  Cycle NextWake(Cycle now) const;
  // Counts the cycles up to `until` that have not been counted; the ports in `issued` (bits) issued.
  void Count(Cycle until, uint32_t issued);

  bool IsMember(SlotId slot) const { return slot < kSlots && (members_ >> slot & 1) != 0; }
  // What the slot stands for after its buffer or its registers have changed.
  void Reclass(SlotId slot);
  void Set(SlotId slot, WarpClass state, Need need);
  // All changes of the formation have been dealt with here.
  void ForgetChanges();
  void AddResult(Cycle at, SlotId slot, Pc pc, bool branch);
  // Twice as many lists.
  void Grow(Cycle now);

  IBufferCore& core_;
  std::vector<Need> needs_;  // by PC
  std::array<Warp, kSlots> warps_;
  uint64_t members_ = 0;                            // slots that are taken over
  std::vector<std::array<SlotSet, kNeeds>> ready_;  // by port
  uint64_t other_ready_ = 0;                        // slots in ready_ of kOther, of all ports
  SlotSet eligible_;
  uint64_t data_threads_ = 0;  // in warps that wait for data

  // Results by cycle, as in EventWheel; none is farther away than there are lists.
  std::vector<List> due_;
  std::vector<Result> results_;
  uint32_t free_ = kNone;
  uint64_t results_left_ = 0;
  uint32_t mask_ = 0;

  Cycle counted_ = 0;  // all cycles before this one are
  uint64_t cycles_ = 0;
  uint64_t issues_ = 0;
  uint64_t waiting_ = 0;  // port cycles in which nothing was ready
  Cycle not_before_ = 0;  // after a stretch that did not pay
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_ARITHMETIC_RUN_H_
