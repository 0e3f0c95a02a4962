// The accesses that asynchronous copies of one SM make.
#ifndef HEDDLE_REPLAY_CORE_COPY_ENGINE_H_
#define HEDDLE_REPLAY_CORE_COPY_ENGINE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/core/memory_port.h"
#include "replay/core/pending/pending_accesses.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// A copy of the threads of a warp.
struct WarpCopy {
  uint64_t number = 0;  // ascending in the order of issue
  BlockId block = 0;
  SlotId slot = kNoSlot;  // that issued it
  Pc pc = 0;
  uint32_t bytes = 0;  // of each lane
  LaneMask reads = 0;  // lanes that read anything; the others only write
  Lanes lanes;
  std::array<uint64_t, kMaxLanes> from{};
  std::array<uint64_t, kMaxLanes> to{};
};

// A copy is two accesses: it reads global memory, and when the data of all its lanes are there it writes shared memory.
// Both wait here, first in, first out, for the memory stage, which takes one of them in a cycle. Before that copies
// wait, in the order of issue, until the machine's limits let them begin.
class CopyEngine {
 public:
  CopyEngine(const machine::v1::CopyEngine& limits, MemoryPort& memory) : limits_(limits), memory_(memory) {}

  // Numbers of accesses from here on are of copies.
  static constexpr AccessId kFirstAccess = AccessId{1} << 31;

  // A copy is issued: its first access goes to the memory in the next cycle at the earliest.
  void Start(const WarpCopy& copy, Cycle now);
  // The memory has the data of lanes in cycle `at`.
  void LanesDone(AccessId access, LaneMask lanes, Cycle at);
  // The engine's part of the cycle, behind the memory's.
  void RunCycle(Cycle now);
  // Copies that are under way.
  size_t in_flight() const { return copies_.size(); }
  // Copies that have ended in the last cycle that was run.
  std::span<const WarpCopy> ended() const { return ended_; }
  // The next cycle after `now` with something to do, unless the memory changes it; kNever if there is none.
  Cycle NextWake(Cycle now) const;

 private:
  struct Copy {
    WarpCopy copy;
    bool writes = false;  // the present access is the second
    Cycle begin = 0;      // the first cycle in which the copy may begin
  };
  // Whether a copy more may have begun.
  bool HasRoom() const { return limits_.in_flight() == 0 || begun_ < limits_.in_flight(); }
  // Copies begin that may begin in cycle `now`.
  void BeginCopies(Cycle now);
  void Submit(uint32_t number, Cycle now);

  const machine::v1::CopyEngine limits_;
  MemoryPort& memory_;
  PendingAccesses<Copy> copies_;  // by their present access
  std::deque<uint32_t> issued_;   // that have not begun
  uint32_t begun_ = 0;            // and are not complete
  Cycle next_begin_ = 0;          // not before this, so as to keep to the bytes per cycle
  std::vector<WarpCopy> ended_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_COPY_ENGINE_H_
