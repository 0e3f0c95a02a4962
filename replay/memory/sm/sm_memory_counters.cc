#include "replay/memory/sm/sm_memory_counters.h"

#include <algorithm>

namespace heddle::replay {

void FirstLevelCounters::Add(const FirstLevelCounters& other) {
  cache.Add(other.cache);
  mshr_occupancy.resize(std::max(mshr_occupancy.size(), other.mshr_occupancy.size()));
  for (size_t used = 0; used < other.mshr_occupancy.size(); ++used) mshr_occupancy[used] += other.mshr_occupancy[used];
  for (int kind = 0; kind < kRequestKinds; ++kind) requests[kind] += other.requests[kind];
  request_bytes += other.request_bytes;
}

void SmMemoryCounters::Add(const SmMemoryCounters& other) {
  for (int cache = 0; cache < kFirstLevels; ++cache) level[cache].Add(other.level[cache]);
  replies += other.replies;
  data_loads += other.data_loads;
  data_stores += other.data_stores;
  data_atomics += other.data_atomics;
  for (int size = 0; size < kTransactionSizes; ++size) transactions[size] += other.transactions[size];
  data_conflict_cycles += other.data_conflict_cycles;
  shared_accesses += other.shared_accesses;
  shared_parts += other.shared_parts;
  shared_passes += other.shared_passes;
  return_stall_cycles += other.return_stall_cycles;
  load_to_use.Add(other.load_to_use);
  policy.Add(other.policy);
}

}  // namespace heddle::replay
