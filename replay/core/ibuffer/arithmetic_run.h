// Stretches in which an SM does nothing but arithmetic and branches whose threads stay together.
#ifndef HEDDLE_REPLAY_CORE_IBUFFER_ARITHMETIC_RUN_H_
#define HEDDLE_REPLAY_CORE_IBUFFER_ARITHMETIC_RUN_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/core/ibuffer/ibuffer_core.h"

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
  // What a warp stands for: its class, and if it is ready, what it needs.
  enum State : uint8_t {
    kReadySp,
    kReadySfu,
    kReadyOther,  // for anything that is not for here
    kArithmetic,
    kArithmeticWaw,
    kControl,
    kFetch,
  };
  static constexpr size_t kStates = 7;

  // An instruction, as far as it is asked for here.
  struct Operation {
    uint64_t reads = 0;  // registers
    uint64_t writes = 0;
    std::span<const uint32_t> sources;
    uint32_t interval = 0;  // as in IssueStep
    uint32_t before_last = 0;
    uint32_t latency = 0;
    UnitClass unit = UnitClass::kSp;
    State ready = kReadyOther;  // what a warp stands for that could issue it
    bool branch = false;
  };
  // What is known of a slot beyond IBufferCore::Warp, which stays in use.
  struct Warp {
    uint64_t pending = 0;  // registers of its row with a write pending
    uint64_t issues = 0;
    uint32_t groups = 0;  // of lanes that its instructions are issued in
    Pc stop = 0;          // where the policy wants to be asked; ~0: nowhere
    State state = kReadyOther;
    uint8_t port = 0;
    uint8_t threads = 0;
  };
  // A result to come.
  struct Result {
    Pc pc = 0;
    uint16_t slot = 0;
    bool branch = false;
  };

  // Whether everything is as it has to be; if so, takes over.
  bool Enter(Cycle next);
  bool TakeWarps();
  bool TakeResults();
  // Gives everything back; the cycles before `now` have been run, and of `now` the results that are not left.
  void Leave(Cycle now);

  // The parts of a cycle. TakeDue is false if the next result is not for here.
  bool TakeDue(Cycle now);
  bool Branch(SlotId slot, Cycle now);
  void Select(Cycle now);
  [[gnu::always_inline]] inline void Issue(int port, SlotId slot, Cycle now);
  void Decode();
  void Fetch(Cycle now);
  Cycle NextWake(Cycle now) const;
  // Counts the cycles up to `until` that have not been counted; the ports in `issued` (bits) issued.
  [[gnu::always_inline]] inline void Count(Cycle until, uint32_t issued);

  bool IsMember(SlotId slot) const { return slot < kSlots && (members_ >> slot & 1) != 0; }
  // What the slot stands for after its buffer or its registers have changed, from cycle `from` on.
  void Reclass(SlotId slot, Cycle from) { Set(slot, StateOf(slot), from); }
  [[gnu::always_inline]] inline State StateOf(SlotId slot) const;
  [[gnu::always_inline]] inline void Set(SlotId slot, State state, Cycle from);
  // Slots that are ready for something that is not for here.
  inline uint64_t other_ready() const;
  // The class of the port's ready members; if there are none, the classes that its members are in.
  [[gnu::always_inline]] inline WarpClassMask Closest(int port) const;
  // In members that wait for data.
  uint64_t DataThreads() const;
  // All changes of the formation have been dealt with here.
  void ForgetChanges();
  [[gnu::always_inline]] inline void AddResult(Cycle at, SlotId slot, Pc pc, bool branch);
  // Room for more results per cycle, or for results that are farther away.
  void Grow(Cycle now, uint32_t cycles, uint32_t room);

  IBufferCore& core_;
  std::vector<Operation> operations_;  // by PC
  std::array<Warp, kSlots> warps_;
  uint64_t members_ = 0;                                 // slots that are taken over
  std::vector<std::array<uint64_t, kStates>> slots_in_;  // by port: its members by what they stand for
  SlotSet eligible_;
  // Integrals over time, but for what is still to be added for the present states: a warp that changes its state adds
  // the time to the old one and takes it from the new one.
  std::array<uint64_t, kStates> warp_cycles_{};
  uint64_t other_data_threads_ = 0;  // in warps that wait for data and are not taken over

  // Results by cycle, as in EventWheel: of each of mask_ + 1 cycles, room for `room_`. None is farther away.
  std::vector<Result> results_;
  std::vector<uint32_t> result_count_;
  uint32_t mask_ = 0;
  uint32_t room_ = 4;
  uint32_t taken_ = 0;  // results of the present cycle
  uint64_t results_left_ = 0;

  Cycle first_ = 0;       // that is counted here
  Cycle counted_ = 0;     // all cycles before this one are
  uint64_t waiting_ = 0;  // port cycles in which nothing was ready
  Cycle not_before_ = 0;  // after a stretch that did not pay
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_IBUFFER_ARITHMETIC_RUN_H_
