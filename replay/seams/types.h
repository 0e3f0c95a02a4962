// Small types that all rooms of the replay share.
#ifndef HEDDLE_REPLAY_SEAMS_TYPES_H_
#define HEDDLE_REPLAY_SEAMS_TYPES_H_

#include <array>
#include <compare>
#include <cstdint>

#include "traces/format/program/program.h"

namespace heddle::replay {

using Cycle = uint64_t;     // core cycles since the launch began
using Pc = trace::Pc;       // instruction index; the PC that people see is 8 times this
using LaneMask = uint64_t;  // bit i = lane i
using SlotId = uint16_t;    // a warp slot of one SM
using BlockId = uint16_t;   // a resident thread block of one SM (its place, not its index in the grid)
using ThreadId = uint16_t;  // a hardware thread of one SM: its home lane is ThreadId mod warp size

inline constexpr int kMaxLanes = 64;
inline constexpr int kMaxSlots = 4096;  // per SM; also the most hardware threads
inline constexpr int kMaxPorts = 4;     // schedulers of an SM
inline constexpr SlotId kNoSlot = 0xffff;
inline constexpr uint32_t kInstructionBytes = 8;  // of a PC, and in the instruction cache
inline constexpr Cycle kNever = ~Cycle{0};

// Where a thread is: call depth and instruction. Two threads are at the same place only if both agree, so that
// recursion does not fake a reconvergence. Ordered by depth, then PC.
class Position {
 public:
  constexpr Position() = default;
  constexpr Position(Pc pc, uint32_t depth) : value_(depth << 17 | pc) {}
  // The end of the kernel: no thread is ever there.
  static constexpr Position Exit() { return Position(); }

  constexpr bool is_exit() const { return value_ == kExit; }
  constexpr Pc pc() const { return value_ & 0x1ffff; }
  constexpr uint32_t depth() const { return value_ >> 17; }
  friend constexpr auto operator<=>(Position, Position) = default;

 private:
  static constexpr uint32_t kExit = ~uint32_t{0};
  uint32_t value_ = kExit;
};

// The threads of a slot: lane i, if set in `mask`, holds hardware thread thread[i].
struct Lanes {
  LaneMask mask = 0;
  std::array<ThreadId, kMaxLanes> thread{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_TYPES_H_
