// What a launch may ask of the device and of its kernel.
#ifndef HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_LIMITS_H_
#define HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_LIMITS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/instrument/kernel_interface.h"

namespace heddle::tracegen {

// Limits of compute capability 7.0 (CUDA C++ Programming Guide, table of technical specifications).
inline constexpr uint32_t kMaxThreads = 1024;  // per block
inline constexpr uint32_t kMaxBlock[3] = {1024, 1024, 64};
inline constexpr uint32_t kMaxGrid[3] = {2147483647, 65535, 65535};
inline constexpr uint32_t kMaxStaticShared = 48 << 10;  // bytes per block
inline constexpr uint32_t kMaxShared = 96 << 10;        // bytes per block, dynamic shared memory included

// Blocks of a launch that may be asked to be live at once.
inline constexpr uint32_t kMaxResidentBlocks = 1024;

// Gives the launch its clusters: as many blocks as `asked`, or, if that is all 0, as the kernel was compiled for, else
// one. InvalidArgument: clusters that the kernel was not compiled for, that are too large, or that do not divide the
// grid.
absl::Status ChooseClusters(const std::string& kernel, const KernelBounds& bounds, const uint32_t* asked,
                            Geometry* geometry);

// InvalidArgument: a dimension that is zero or beyond the device's limits, or a block that the kernel was not compiled
// for.
absl::Status CheckGeometry(const std::string& kernel, const KernelBounds& bounds, const Geometry& geometry);

// InvalidArgument: more shared memory than a block can have.
absl::Status CheckShared(const std::string& kernel, uint64_t static_bytes, uint64_t dynamic_bytes);

// Where dynamic shared memory begins behind the static variables.
inline uint64_t DynamicSharedStart(uint64_t static_bytes) { return (static_bytes + 15) / 16 * 16; }

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_LAUNCH_LAUNCH_LIMITS_H_
