// What the memory counts for every instruction of a program, if it is asked to.
#ifndef HEDDLE_REPLAY_MEMORY_SM_MEMORY_PROFILE_H_
#define HEDDLE_REPLAY_MEMORY_SM_MEMORY_PROFILE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/result.pb.h"
#include "replay/memory/sm/access_plan.h"
#include "replay/memory/sm/sm_memory_counters.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Of one instruction. Transactions are those in global, local and texture memory, after coalescing; without coalescing,
// lines.
struct InstructionMemoryCounters {
  uint64_t accesses = 0;       // warp-instructions that entered the memory stage
  uint64_t data_accesses = 0;  // of those, with a transaction
  uint64_t transactions = 0;
  // Accesses and transactions, had each static warp made its lanes of these accesses by itself.
  uint64_t static_accesses = 0;
  uint64_t static_transactions = 0;
  uint64_t shared_parts = 0;
  uint64_t shared_passes = 0;
  // Loads and stores in the L1 data cache, counted as the cache does.
  uint64_t hits = 0;
  uint64_t pending_hits = 0;
  uint64_t misses = 0;
  uint64_t returns = 0;          // loads, atomics and texture accesses that are complete
  uint64_t load_to_use_sum = 0;  // cycles from their issue to the data of the last lane

  void Add(const InstructionMemoryCounters& other);
  void Fill(result::v1::InstructionMemory& out) const;
};

// Of all SMs. Dynamically formed warps may touch more lines than the static warps of their threads would (CAPRI, figure
// 5): each access is therefore planned a second time, static warp by static warp.
class MemoryProfile {
 public:
  MemoryProfile(size_t instructions, uint32_t warp_size) : warp_size_(warp_size), counters_(instructions) {}

  const InstructionMemoryCounters& operator[](size_t pc) const { return counters_[pc]; }
  InstructionMemoryCounters& operator[](size_t pc) { return counters_[pc]; }

  // An access enters the memory stage of an SM, whose planner has made `plan` of it.
  void Entered(const WarpAccess& access, const AccessPlan& plan, AccessPlanner& planner);

 private:
  void PlanStaticWarps(const WarpAccess& access, AccessPlanner& planner, InstructionMemoryCounters& counters);

  const uint32_t warp_size_;
  std::vector<InstructionMemoryCounters> counters_;  // by PC
  // For use in Entered.
  AccessPlan plan_;
  SmMemoryCounters ignored_;
  LaneAddresses addresses_{};
  std::array<ThreadId, kMaxLanes> threads_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_MEMORY_PROFILE_H_
