// Threads of two nested loops: over elements, and over the bits of an element's number, with a load for each bit that
// is set. What they do is regular, but neither their paths nor the loads of a thread are.
#ifndef HEDDLE_TESTS_TRACES_FORMAT_COLUMNS_BIT_LOOPS_H_
#define HEDDLE_TESTS_TRACES_FORMAT_COLUMNS_BIT_LOOPS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/trace.pb.h"

namespace heddle::trace::testing {

// Blocks 0 to 6: entry, outer, head, body, next, after, exit. The load stands in the body, a store in `after`.
v1::KernelProgram BitLoops();

struct BitLoopOptions {
  uint32_t blocks = 4;
  uint32_t threads = 256;
  uint32_t rounds = 4;  // elements of a thread: its number, and further ones as many threads on
  uint32_t bits = 13;
  uint32_t cut_behind = 0;  // not 0: each block is added in two parts, the first with so many decisions of every thread
  // Added to the addresses of the loads of a round; `load` counts those of the round, from 0.
  std::function<uint64_t(uint64_t thread, uint64_t round, uint64_t load)> moved = [](uint64_t, uint64_t, uint64_t) {
    return 0;
  };
  // Of the load by a thread (counted over the grid) for a bit.
  std::function<uint64_t(uint64_t thread, uint64_t bit)> address = [](uint64_t, uint64_t bit) {
    return 0x700000000 + 4 * bit;
  };
};

// Writes one launch to `path`; returns the addresses of loads and stores, thread after thread (in the order of the file
// if blocks are not cut).
absl::StatusOr<std::vector<uint64_t>> WriteBitLoops(const std::string& path, const BitLoopOptions& options = {});

}  // namespace heddle::trace::testing

#endif  // HEDDLE_TESTS_TRACES_FORMAT_COLUMNS_BIT_LOOPS_H_
