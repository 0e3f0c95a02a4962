// The window in which the blocks of a cluster see one another's shared memory: kClusterBase of thread_context.h.
#ifndef HEDDLE_TRACEGEN_INSTRUMENT_CLUSTER_WINDOW_H_
#define HEDDLE_TRACEGEN_INSTRUMENT_CLUSTER_WINDOW_H_

#include <cstdint>

#include "tracegen/instrument/thread_context.h"
#include "traces/format/program/clusters.h"

namespace heddle::tracegen {

inline bool IsInClusterWindow(uint64_t address) { return address - kClusterBase < kClusterBytes; }

// Whose shared memory an address of the window, or right behind it, names, and where there; and back.
inline trace::SharedPlace PlaceInCluster(uint64_t address) {
  const uint64_t place = address - kClusterBase;
  return {static_cast<uint32_t>(place / kSharedBytes), place % kSharedBytes};
}
inline uint64_t ClusterAddress(const trace::SharedPlace& place) {
  return kClusterBase + place.rank * kSharedBytes + place.offset;
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_INSTRUMENT_CLUSTER_WINDOW_H_
