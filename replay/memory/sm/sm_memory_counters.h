// What the memory of an SM counts.
#ifndef HEDDLE_REPLAY_MEMORY_SM_SM_MEMORY_COUNTERS_H_
#define HEDDLE_REPLAY_MEMORY_SM_SM_MEMORY_COUNTERS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "replay/memory/cache/cache.h"
#include "replay/memory/ports/latency_histogram.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

inline constexpr int kRequestKinds = 3;      // of RequestKind
inline constexpr int kTransactionSizes = 9;  // 2^0 to 2^8 bytes

// Of one first-level cache.
struct FirstLevelCounters {
  CacheCounters cache;
  // Cycles by number of MSHRs in use; empty if there is no such cache.
  std::vector<uint64_t> mshr_occupancy;
  // Requests that entered its miss queue, by RequestKind; write-backs are among the writes.
  std::array<uint64_t, kRequestKinds> requests{};
  uint64_t request_bytes = 0;  // asked for or written

  void Add(const FirstLevelCounters& other);
  bool operator==(const FirstLevelCounters&) const = default;
};

// What memory policies have done that the machine's own rule does not.
struct PolicyCounters {
  uint64_t policies = 0;               // SMs that have one which wants something
  uint64_t past_misses = 0;            // misses of the data cache for which nothing was kept
  uint64_t prefetches = 0;             // lines that were sent for
  uint64_t prefetches_not_needed = 0;  // asked for, but there or on their way when it was their turn

  void Add(const PolicyCounters& other) {
    policies += other.policies;
    past_misses += other.past_misses;
    prefetches += other.prefetches;
    prefetches_not_needed += other.prefetches_not_needed;
  }
  bool operator==(const PolicyCounters&) const = default;
};

// Of one SM, or summed over several. Instructions are warp instructions.
struct SmMemoryCounters {
  std::array<FirstLevelCounters, kFirstLevels> level;  // by FirstLevel
  uint64_t replies = 0;                                // = the sum of all requests when nothing is under way

  uint64_t data_loads = 0;  // instructions with at least one lane in global, local or (without a texture cache) texture
  uint64_t data_stores = 0;
  uint64_t data_atomics = 0;
  // Transactions of these after coalescing, by size: element k counts those of 2^k bytes.
  std::array<uint64_t, kTransactionSizes> transactions{};
  uint64_t data_conflict_cycles =
      0;  // in which an access waited because its bank of the data cache served another line

  uint64_t shared_accesses = 0;  // instructions with at least one lane in shared memory
  uint64_t shared_parts = 0;     // warp parts with active lanes, which is what the passes would be without conflicts
  uint64_t shared_passes = 0;

  // Cycles in which the memory stage waited because data that were there could not yet be returned.
  uint64_t return_stall_cycles = 0;
  // From the issue of a load, atomic or texture access to the data of its last lane.
  LatencyHistogram load_to_use;

  PolicyCounters policy;

  void Add(const SmMemoryCounters& other);
  bool operator==(const SmMemoryCounters&) const = default;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_SM_MEMORY_COUNTERS_H_
