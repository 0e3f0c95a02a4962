// Latencies that the machine gives to single instructions of single threads.
#ifndef HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_SCRIPTED_LATENCY_H_
#define HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_SCRIPTED_LATENCY_H_

#include <bit>
#include <cstdint>

#include "replay/core/launch_context.h"
#include "replay/seams/types.h"
#include "replay/warps/formation.h"

namespace heddle::replay {

// The latency, in cycles, of the instruction at `pc` of these threads; 0 if none is scripted.
inline uint32_t ScriptedLatency(const LaunchContext& context, const Formation& formation, const Lanes& lanes, Pc pc) {
  for (const machine::v1::ScriptedLatency& entry : context.scripted) {
    if (!entry.any_instruction() && entry.instruction() != pc) continue;
    for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
      const uint32_t index = formation.index_in_block(lanes.thread[std::countr_zero(mask)]);
      if (index >= entry.first_thread() && index <= entry.last_thread()) return entry.cycles();
    }
  }
  return 0;
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_SINGLE_PIPELINE_SCRIPTED_LATENCY_H_
