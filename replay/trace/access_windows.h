// Chunks of which only the accesses that come next are kept.
#ifndef HEDDLE_REPLAY_TRACE_ACCESS_WINDOWS_H_
#define HEDDLE_REPLAY_TRACE_ACCESS_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "traces/format/chunk/decoded_chunk.h"

namespace heddle::replay {

// A thread that reads a chunk, and how many of its accesses it has made.
struct ChunkReader {
  uint32_t thread = 0;  // among all threads of the chunk
  uint32_t accesses_made = 0;
};

// What a narrowed chunk holds of a thread: its accesses `first` to `first + count - 1`, which begin at `place` in the
// chunk's list of accesses.
struct AccessWindow {
  uint32_t thread = 0;
  uint32_t first = 0;
  uint32_t place = 0;
  uint32_t count = 0;
};

// Drops all accesses of a whole chunk but the next `accesses` of each of the readers (or as many as it has left).
// Paths and decisions stay. `first_address` is empty from then on: that tells narrowed chunks from whole ones. Returns
// the windows, ascending by thread; readers may be named twice, the one that has made fewer accesses counts.
std::vector<AccessWindow> NarrowAccesses(std::vector<ChunkReader> readers, uint64_t accesses,
                                         trace::DecodedChunk& chunk);

inline bool IsNarrowed(const trace::DecodedChunk& chunk) { return chunk.first_address.empty(); }

// The window of a thread; null if it has none.
const AccessWindow* FindWindow(const std::vector<AccessWindow>& windows, uint32_t thread);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_TRACE_ACCESS_WINDOWS_H_
