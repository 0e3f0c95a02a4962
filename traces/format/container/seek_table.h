// The standard Zstandard seek table (zstd, contrib/seekable_format): a skippable frame at the end of the file that
// lists the compressed and the decompressed size of every frame.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_SEEK_TABLE_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_SEEK_TABLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "traces/format/container/byte_source.h"

namespace heddle::trace {

inline constexpr uint32_t kSkippableMagic = 0x184D2A5E;
inline constexpr uint32_t kSeekTableMagic = 0x8F92EAB1;

// One frame of the file; sizes in bytes.
struct FrameEntry {
  uint32_t compressed = 0;
  uint32_t decompressed = 0;
};

// The bytes of the skippable frame for `frames` (without checksums: every frame has its own).
std::string EncodeSeekTable(std::span<const FrameEntry> frames);

// Reads the seek table at the end of `source`. Refuses a file without one (it is cut off or not a trace), reserved
// bits, frames above the limits, and sizes that do not add up to the size of the file.
absl::Status ReadSeekTable(const ByteSource& source, std::vector<FrameEntry>& frames);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_SEEK_TABLE_H_
