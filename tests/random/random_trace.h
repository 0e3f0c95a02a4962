// Random kernels as trace files.
#ifndef HEDDLE_TESTS_RANDOM_RANDOM_TRACE_H_
#define HEDDLE_TESTS_RANDOM_RANDOM_TRACE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/random/random_kernel.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

// How kernels are laid down in a file.
struct LayDown {
  uint64_t chunk_thread_instructions = 0;  // 0 = the writer's own limit
  bool cut_in_time = false;                // every block in several parts, cut at random decisions
  uint64_t seed = 1;                       // for the cuts
  // Of each launch, which has everything but its number; may be empty.
  std::function<void(trace::v1::Launch&)> edit = {};
};

// Writes one launch per kernel to a temporary file and opens it. Stops the test program on an error of the writer or
// the reader, because nothing that follows would mean anything.
std::unique_ptr<trace::TraceReader> WriteAndOpen(const std::vector<const RandomKernel*>& kernels,
                                                 const LayDown& lay_down = {});

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_RANDOM_RANDOM_TRACE_H_
