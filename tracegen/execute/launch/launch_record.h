// A launch as a trace tells it.
#ifndef HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_RECORD_H_
#define HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_RECORD_H_

#include "proto/trace.pb.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/execute/memory/device_memory.h"

namespace heddle::tracegen {

// Geometry, and the allocations there are when it starts. The rest is the caller's.
trace::v1::Launch DescribeLaunch(const Geometry& geometry, const DeviceMemory& memory);

// Makes the header that of a trace with clusters, if it is not yet: its version, and the window of their shared memory.
// Whether it has changed.
bool TellClusters(trace::v1::FileHeader& header);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_RECORD_H_
