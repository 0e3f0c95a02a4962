// Limits of the trace format. A writer keeps them, a reader checks them before it allocates.
#ifndef HEDDLE_TRACES_FORMAT_LIMITS_H_
#define HEDDLE_TRACES_FORMAT_LIMITS_H_

#include <cstdint>

namespace heddle::trace {

inline constexpr uint32_t kMajorVersion = 1;
inline constexpr uint32_t kMinorVersion = 0;

// A writer closes a chunk at the first of these. A chunk may pass them by what one step of the writer adds; a reader
// accepts up to the kMax values.
inline constexpr uint64_t kChunkThreadInstructions = 1u << 20;
inline constexpr uint64_t kChunkAccesses = 512u << 10;
inline constexpr uint64_t kChunkBytes = 8u << 20;  // encoded

inline constexpr uint64_t kMaxRecordBytes = 64u << 20;  // decompressed frame
inline constexpr int kMaxWindowLog = 27;                // Zstandard window: 2^27 bytes
inline constexpr uint64_t kMaxChunkThreads = 1u << 20;
inline constexpr uint64_t kMaxChunkThreadInstructions = 16u << 20;
inline constexpr uint64_t kMaxChunkAccesses = 16u << 20;
inline constexpr uint32_t kMaxThreadsPerBlock = 1024;

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_LIMITS_H_
