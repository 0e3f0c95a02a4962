// What an SM counts while it runs.
#ifndef HEDDLE_REPLAY_STATS_SM_COUNTERS_H_
#define HEDDLE_REPLAY_STATS_SM_COUNTERS_H_

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "proto/result.pb.h"
#include "replay/seams/types.h"
#include "replay/warps/thread_state.h"

namespace heddle::replay {

// Counters of one SM and launch; sums over SMs make the launch's. All are integers, and all of one SM's cycle c
// describe the state at the end of that cycle: after completions, releases, timers and selection, before dispatch.
struct SmCounters {
  // As in result.proto.
  struct Uniform {
    uint64_t issues = 0;
    uint64_t mixed_issues = 0;
    uint64_t mixed_thread_instructions = 0;
    uint64_t extra_issues = 0;
  };

  // Issues that come from the trace (IPC_warp); one issue of several slots counts once.
  uint64_t warp_instructions = 0;
  // Active threads of those issues (IPC).
  uint64_t thread_instructions = 0;
  // Of these, those whose guard was false.
  uint64_t predicated_off = 0;
  // Joins of the recording that threads went past without an issue.
  uint64_t joins = 0;
  // Issues that a policy inserted: not in warp_instructions (IPC_all).
  uint64_t inserted_instructions = 0;
  // Threads of issued barrier instructions.
  uint64_t barriers = 0;
  // Cycles with a resident block.
  uint64_t resident_cycles = 0;
  // Scheduler cycles of all ports by class (Fung's thesis, figure 6.3): a cycle that is divisible by the
  // issue period of a port of an SM with a resident block. They add up to `scheduler_cycles`.
  uint64_t scheduler_cycles = 0;
  uint64_t issued = 0;  // including inserted instructions
  // A warp was ready, but the port was held by a penalty, the issue was nullified or refused, or write-back was
  // blocked.
  uint64_t stall = 0;
  // Nothing was ready, and every live thread of the SM is in a slot with a memory access outside shared memory in
  // flight, or in one that is paused, but not all in such.
  uint64_t memory = 0;
  uint64_t idle = 0;
  // Cycles with a resident block in which no port was within the cycles of an issue or its penalty, and the threads of
  // resident blocks by state summed over those cycles (HARP, figures 5 and 14).
  uint64_t idle_cycles = 0;
  std::array<uint64_t, kThreadStates> idle_threads{};
  uint64_t idle_paused = 0;  // of those that are ready: in warps whose block is paused
  // SmActivity, if a dispatcher asks for it; not summed over SMs.
  struct Cycles {
    uint64_t issue = 0;
    uint64_t stall = 0;
    uint64_t memory = 0;
    uint64_t data = 0;
    uint64_t idle = 0;
    // SmCounters::issued and stall as they were when these were counted last.
    uint64_t issued = 0;
    uint64_t stalled = 0;
    // `count` cycles. `ready`: some warp lacked nothing but a unit or the port; `waits`: some wait for a result.
    void Add(bool issued, bool ready, bool all_in_memory, bool waits, uint64_t count) {
      (issued ? issue : ready ? stall : all_in_memory ? memory : waits ? data : idle) += count;
    }
  } cycles;
  // Element n - 1: traced issues with n active threads (warp-size distribution before binning).
  std::array<uint64_t, kMaxLanes> issues_by_size{};
  Uniform uniform;

  void Add(const SmCounters& other);
};

// What the counters of a launch refer to.
struct CounterScale {
  uint32_t warp_size = 0;
  uint32_t issue_cycles = 0;        // core cycles of one scheduler cycle
  uint32_t ports = 0;               // per SM
  bool has_uniform_values = false;  // threads of the launch recorded some
};

// Checks what must hold whatever was run: classes add up to the scheduler cycles, sizes to the issues and threads, and
// idle cycles are no more than those with a resident block. Internal error naming the sum that is wrong.
absl::Status CheckSums(const SmCounters& counters);

// Writes the counters and the ratios that follow from them into a result. Ratios without a denominator stay absent.
void FillResult(const SmCounters& counters, const CounterScale& scale, uint64_t cycles, result::v1::LaunchResult& out);

// Adds a launch to the totals; the ratios are formed anew from the sums. `warp_size` is the machine's.
void AddToTotals(const result::v1::LaunchResult& launch, uint32_t warp_size, result::v1::Totals& totals);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_STATS_SM_COUNTERS_H_
