// What threads are doing, for the breakdown of idle cycles.
#ifndef HEDDLE_REPLAY_WARPS_THREAD_STATE_H_
#define HEDDLE_REPLAY_WARPS_THREAD_STATE_H_

#include <array>
#include <cstdint>

#include "replay/seams/warp_table.h"

namespace heddle::replay {

// Of a live or finished thread of a resident block (HARP's thread states). Threads of parked slots and unassigned ones
// count as what the policy says that they are held for.
enum class ThreadState : uint8_t { kReady, kDependency, kBarrier, kInactive, kReconverging, kFinished };
inline constexpr int kThreadStates = 6;

// Threads by state.
using ThreadStateCounts = std::array<uint64_t, kThreadStates>;

// Of the threads of a slot that is not parked.
ThreadState ThreadStateOf(SlotState state);
// Of the threads of a parked slot, and of unassigned ones.
ThreadState ThreadStateOf(HeldReason reason);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_WARPS_THREAD_STATE_H_
