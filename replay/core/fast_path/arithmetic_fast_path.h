// The quick way through phases in which an SM does nothing but arithmetic and branches whose threads stay together.
#ifndef HEDDLE_REPLAY_CORE_FAST_PATH_ARITHMETIC_FAST_PATH_H_
#define HEDDLE_REPLAY_CORE_FAST_PATH_ARITHMETIC_FAST_PATH_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/core/fast_path/result_ring.h"
#include "replay/core/ibuffer/fast_path.h"
#include "replay/core/ibuffer/warp_entry.h"
#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"
#include "replay/stats/stall_counters.h"

namespace heddle::replay {

// It pays where an SM runs alone, which is when kernels compute. The core remains the rule that this must come to
// (tests compare them).
//
// Enter takes over what changes with every instruction: the scoreboard's words, the issue status of warps, and the
// results to come, in a form that needs no questions, since Enter has asked them all. Every other thing stays where it
// is. As soon as something else is to happen (memory, a barrier, a divergence, an exit), all is given back, and the
// core goes on in the middle of that cycle.
class ArithmeticFastPath final : public FastPath {
 public:
  // Null if policies, watchers or the program leave no room for it. The core that the parts belong to must outlive it.
  static std::unique_ptr<FastPath> Make(const FastPathParts& parts);

  explicit ArithmeticFastPath(const FastPathParts& parts);

  Outcome Run(Cycle next, Cycle limit) override;

 private:
  static constexpr int kSlots = 64;
  // The issue status of a warp: its class, and if it is ready, what it needs.
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
    State ready = kReadyOther;  // of a warp that could issue it
    bool branch = false;
  };
  // What is known of a slot beyond WarpEntry, which stays in use.
  struct Member {
    uint64_t pending = 0;  // registers of its hardware warp with a write pending
    uint64_t issues = 0;
    uint32_t groups = 0;  // of lanes that its instructions are issued in
    Pc stop = 0;          // where the policy wants to be asked; ~0: nowhere
    State state = kReadyOther;
    uint8_t port = 0;
    uint8_t threads = 0;
  };

  // Whether everything is as it has to be; if so, takes over.
  bool Enter(Cycle next);
  bool NothingWaits() const;
  bool TakeWarps();
  bool TakeResults();
  // The slot that a result is of; kNoSlot if the result is not for here.
  [[gnu::always_inline]] inline SlotId SlotOf(const Completion& item) const;
  // Gives everything back; the cycles before `now` have been run, and of `now` the results that are not left.
  void Leave(Cycle now);

  // The parts of a cycle. TakeDue is false if the next result is not for here.
  [[gnu::always_inline]] inline bool TakeDue(Cycle now);
  bool Branch(SlotId slot, Cycle now);
  void Select(Cycle now);
  [[gnu::always_inline]] inline void Issue(int port, SlotId slot, Cycle now);
  void Decode();
  void Fetch(Cycle now);
  Cycle NextWake(Cycle now) const;
  // Counts the cycles up to `until` that have not been counted; the ports in `issued` (bits) issued.
  [[gnu::always_inline]] inline void Count(Cycle until, uint32_t issued);

  bool IsMember(SlotId slot) const { return slot < kSlots && (members_ >> slot & 1) != 0; }
  // The buffer or the registers of the slot have changed, from cycle `from` on.
  [[gnu::always_inline]] inline void UpdateStatus(SlotId slot, Cycle from);
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

  const FastPathParts parts_;
  std::vector<Operation> operations_;  // by PC
  std::array<Member, kSlots> warps_;
  uint64_t members_ = 0;                                 // slots that are taken over
  std::vector<std::array<uint64_t, kStates>> slots_in_;  // by port: its members by state
  SlotSet eligible_;
  // Integrals over time, but for what is still to be added for the present states: a warp that changes its state adds
  // the time to the old one and takes it from the new one.
  std::array<uint64_t, kStates> warp_cycles_{};
  uint64_t other_data_threads_ = 0;  // in warps that wait for data and are not taken over
  ResultRing results_;

  Cycle first_ = 0;       // that is counted here
  Cycle counted_ = 0;     // all cycles before this one are
  uint64_t waiting_ = 0;  // port cycles in which nothing was ready
  Cycle not_before_ = 0;  // after a phase that was too short to pay
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_FAST_PATH_ARITHMETIC_FAST_PATH_H_
