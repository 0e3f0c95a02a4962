// One random trace with a random machine, from a seed.
#ifndef HEDDLE_TESTS_CONFORMANCE_RANDOM_CASE_H_
#define HEDDLE_TESTS_CONFORMANCE_RANDOM_CASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/machine.pb.h"
#include "tests/random/random_kernel.h"
#include "traces/format/read/reader.h"

namespace heddle::replay {

struct RandomCase {
  std::vector<RandomKernel> kernels;  // one launch each
  std::unique_ptr<trace::TraceReader> reader;
  machine::v1::Machine machine;
  std::string Text() const;  // the machine, and how to get this case again
  uint64_t seed = 0;
};

// The same seed gives the same case. Warps of 1 to 64 threads, one or two launches, laid down in few chunks, many
// chunks, or cut in time.
RandomCase MakeRandomCase(uint64_t seed);

// MakeRandomCase on a machine with instruction buffers.
RandomCase MakeBufferCase(uint64_t seed);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_CONFORMANCE_RANDOM_CASE_H_
