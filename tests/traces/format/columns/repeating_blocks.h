// Traces whose blocks repeat one another, so that their chunks share frames.
#ifndef HEDDLE_TESTS_TRACES_FORMAT_COLUMNS_REPEATING_BLOCKS_H_
#define HEDDLE_TESTS_TRACES_FORMAT_COLUMNS_REPEATING_BLOCKS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace heddle::trace::testing {

struct RepeatingBlocks {
  uint64_t blocks = 24;  // of each launch
  uint32_t threads = 32;
  uint64_t loads = 20;                     // of each thread, at random distances
  uint64_t different = 2;                  // block b does what block b % different does
  uint64_t chunk_thread_instructions = 1;  // 1: a chunk per block
  unsigned writer_threads = 1;
  bool abandons = false;  // a launch between the two others
};

// Writes two launches of a loop around a load to `path`, or says what the writer refused.
absl::Status WriteRepeatingBlocks(const std::string& path, const RepeatingBlocks& options);

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_TRACES_FORMAT_COLUMNS_REPEATING_BLOCKS_H_
