// What is kept of a device thread while others run.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_DEVICE_THREAD_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_DEVICE_THREAD_H_

#include <cstdint>

#include "tracegen/execute/threads/fiber.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

enum class ThreadState : uint8_t {
  kNotStarted,
  kRunning,
  kReady,
  kAtBarrier,
  kAtWarpOperation,  // with a mask: waits for the lanes in it
  kConverging,       // without one: waits for the lanes that come to the same place
  kAtPhase,          // waits for a phase of a transaction barrier, or of the cluster's barrier
  kAtAccess,         // in lockstep, in front of a memory access
  kExited
};

// The first cache line is all that a round (FrameRounds) needs.
struct alignas(64) DeviceThread {
  ThreadOwn own;
  Fiber* fiber = nullptr;      // of a thread that waits: its stack; null: it has left a frame
  uint32_t frame_barrier = 0;  // ThreadContext::frame_barrier, of a thread that has come to the barrier of a round
  ThreadState state = ThreadState::kNotStarted;
  uint64_t result = 0;  // what the barrier or warp operation that it waited for has given

  // Keeps what the thread needs to go on: with `stack`, or null for a thread that has left a frame. The other parts of
  // `own` do not change while it runs.
  void Keep(const ThreadContext& context, Fiber* stack) {
    fiber = stack;
    own.block_base = context.own.block_base;
    own.local_pointer = context.own.local_pointer;
    own.location = context.own.location;
  }
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_DEVICE_THREAD_H_
