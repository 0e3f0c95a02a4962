// What a dispatcher may know of an SM.
#ifndef HEDDLE_REPLAY_SEAMS_SM_ACTIVITY_H_
#define HEDDLE_REPLAY_SEAMS_SM_ACTIVITY_H_

#include <cstdint>

namespace heddle::replay {

// What an SM has done since the launch began. Totals that only grow: who wants a window keeps the values of its
// beginning. The first five are in cycles with a resident block, each of which belongs to exactly one of them. Where
// the ports select only in some cycles (the single pipeline, warps wider than the SIMD group), such a cycle stands for
// all cycles up to the next one.
struct SmActivity {
  uint64_t issue_cycles = 0;  // some port issued
  // No port issued, though some warp lacked nothing but a unit, or the port.
  uint64_t stall_cycles = 0;
  // No port issued: every live thread was in a warp that waited for data from beyond shared memory, or that is paused,
  // and one waited.
  uint64_t memory_cycles = 0;
  // No port issued: some warp that is not paused waited for a result, but not all for memory.
  uint64_t data_cycles = 0;
  uint64_t idle_cycles = 0;          // no port issued, for any other reason: nobody to run
  uint64_t warp_instructions = 0;    // issues of recorded instructions
  uint64_t thread_instructions = 0;  // of these issues

  friend bool operator==(const SmActivity&, const SmActivity&) = default;
};

// The warps of an SM, slots with threads, by what they wait for at the end of a cycle. Each is in one class.
struct SmWarps {
  uint32_t ready = 0;    // nothing but a unit, or the port
  uint32_t memory = 0;   // data from beyond shared memory
  uint32_t barrier = 0;  // a barrier; with instruction buffers also a fence
  uint32_t held = 0;     // the divergence policy
  uint32_t paused = 0;   // its block is paused, whatever else it waits for
  uint32_t other = 0;    // a result of arithmetic or shared memory, a branch, instructions

  friend bool operator==(const SmWarps&, const SmWarps&) = default;
};

// How busy an SM's way to the memory is at the end of a cycle. All 0 with fixed latencies.
struct SmMemoryLoad {
  // MSHRs of the data cache in use: by lines on their way, and by lines whose accesses still get their data.
  uint32_t mshrs_used = 0;
  uint32_t requests = 0;         // of all first-level caches, that have had no reply
  uint32_t queued_requests = 0;  // of these, that wait for the network

  friend bool operator==(const SmMemoryLoad&, const SmMemoryLoad&) = default;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_SM_ACTIVITY_H_
