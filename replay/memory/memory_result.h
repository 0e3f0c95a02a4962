// Counters of the memory as they stand in a result.
#ifndef HEDDLE_REPLAY_MEMORY_MEMORY_RESULT_H_
#define HEDDLE_REPLAY_MEMORY_MEMORY_RESULT_H_

#include <cstdint>
#include <vector>

#include "proto/machine.pb.h"
#include "proto/result.pb.h"
#include "replay/memory/cache/cache.h"
#include "replay/memory/dram/dram_controller.h"
#include "replay/memory/l2/l2_slice.h"
#include "replay/memory/network/crossbar.h"
#include "replay/memory/sm/sm_memory_counters.h"

namespace heddle::replay {

// Writes the counters of all SMs of a machine with a hierarchy. Ratios whose denominator is 0 are left out.
void WriteSmCounters(const SmMemoryCounters& counters, const machine::v1::Hierarchy& hierarchy,
                     result::v1::LaunchResult& result);

void WriteCache(const CacheCounters& counters, const std::vector<uint64_t>& mshr_occupancy,
                result::v1::CacheCounters& out);
void WriteNetwork(const CrossbarCounters& counters, uint64_t cycles, uint64_t inputs, uint64_t outputs, uint64_t bytes,
                  result::v1::NetworkCounters& out);
// `slices` counters of `count` slices in sum, and those of their caches; without occupancy there is no cache.
void WriteL2(const L2SliceCounters& slices, uint64_t count, uint64_t cycles, const CacheCounters& cache,
             const std::vector<uint64_t>& mshr_occupancy, uint64_t line_bytes, result::v1::L2Counters& out);
void WriteDram(const DramCounters& counters, uint64_t cycles, uint64_t controllers, result::v1::DramCounters& out);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_MEMORY_RESULT_H_
