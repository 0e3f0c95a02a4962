// Traces of whole runs for the tests of copying, comparing and recovering.
#ifndef HEDDLE_TESTS_TRACES_FORMAT_COLUMNS_TRACE_RUNS_H_
#define HEDDLE_TESTS_TRACES_FORMAT_COLUMNS_TRACE_RUNS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "traces/format/write/writer.h"

namespace heddle::trace::testing {

struct RunOptions {
  uint64_t seed = 1;
  uint64_t part_blocks = 12;  // basic blocks that a thread runs per part of launch 2's blocks
  WriterOptions writer = {.chunk_thread_instructions = 300};
};

// Writes a run with everything that a trace may hold:
//   launch 0: program 0, 12 blocks of 16 threads, whole
//   transfer, launch 1: program 0 again, ran but was not recorded
//   launch 2: program 1 (calls, wide branches), 3 blocks of 16 threads, each in parts; depends on launch 1
//   annotation, launch 3: program 0, blocks 1, 4, 7, ... 22 of a grid of 24; depends on launches 0 and 2
//   certificate of launch 2
absl::Status WriteRun(const std::string& path, const RunOptions& options = {});

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_TRACES_FORMAT_COLUMNS_TRACE_RUNS_H_
