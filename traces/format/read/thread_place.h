// Says where a thread of a chunk is, for findings.
#ifndef HEDDLE_TRACES_FORMAT_READ_THREAD_PLACE_H_
#define HEDDLE_TRACES_FORMAT_READ_THREAD_PLACE_H_

#include <cstddef>
#include <string>

#include "absl/strings/str_cat.h"
#include "traces/format/chunk/decoded_chunk.h"
#include "traces/format/read/reader.h"

namespace heddle::trace {

// Of the chunk at hand, whatever that is.
struct ThreadPlace {
  const LaunchView& launch;
  const DecodedChunk& chunk;

  // Launch, block, part of a block that is cut in time, and thread.
  std::string Of(size_t thread) const {
    const bool cut = chunk.part > 0 || !chunk.last_part;
    return absl::StrCat("launch ", launch.launch.id(), ", block ", chunk.blocks[thread / chunk.threads_per_block],
                        cut ? absl::StrCat(", part ", chunk.part) : "", ", thread ", thread % chunk.threads_per_block);
  }
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_READ_THREAD_PLACE_H_
