// What the threads of a block have recorded, as it was recorded: in ranges.
#ifndef HEDDLE_TRACES_FORMAT_CHUNK_SEGMENTED_BLOCK_H_
#define HEDDLE_TRACES_FORMAT_CHUNK_SEGMENTED_BLOCK_H_

#include <cstdint>
#include <span>

#include "traces/format/chunk/thread_record.h"

namespace heddle::trace {

// Segments are ranges of a record, each written by one thread without interruption. Threads that wait at barriers
// leave one each time, and most do what their neighbours do; so this is a run of them, one behind the other, by threads
// with consecutive numbers, that are equally long.
struct SegmentRun {
  uint32_t first_thread = 0;
  uint32_t threads = 0;
  uint32_t addresses = 0;  // of each
  uint32_t decisions = 0;
};

// A whole block whose addresses have not been put together by thread, which would take a copy of them all.
struct SegmentedBlock {
  std::span<const SegmentRun> runs;
  const uint64_t* addresses = nullptr;     // of all segments, one behind the other
  std::span<const ThreadRecord> threads;   // only their decisions are complete
  std::span<const uint64_t> access_count;  // by thread
};

// Both ends included.
struct AddressBounds {
  uint64_t lowest = 0;
  uint64_t highest = 0;
};

}  // namespace heddle::trace

#endif  // HEDDLE_TRACES_FORMAT_CHUNK_SEGMENTED_BLOCK_H_
