// Finds the frames of a file without its seek table.
#ifndef HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_SCAN_H_
#define HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_SCAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "traces/format/container/byte_source.h"
#include "traces/format/container/seek_table.h"

namespace heddle::trace {

// A range of the file that has the outer shape of a frame; its contents have not been looked at.
struct FoundFrame {
  uint64_t offset = 0;
  FrameEntry entry;
};

// Bytes that belong to no frame.
struct LostBytes {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct ScannedFrames {
  std::vector<FoundFrame> frames;  // in file order
  std::vector<LostBytes> lost;     // in file order; a cut-off frame at the end is among them
  bool has_seek_table = false;     // the file ends in a skippable frame, whatever is in it
};

// Follows frame and block headers from the start of the file (RFC 8878, section 3.1.1). Where they lead nowhere, looks
// for the next frame header behind. Refuses a file without a single frame, and above kMaxFrames.
absl::StatusOr<ScannedFrames> ScanFrames(const ByteSource& source);

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CONTAINER_FRAME_SCAN_H_
