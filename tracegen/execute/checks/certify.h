// Captures a launch again under other orders of threads and blocks, to tell what of a recording depends on the order.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_CERTIFY_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_CERTIFY_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "proto/trace.pb.h"
#include "tracegen/execute/launch/geometry.h"
#include "tracegen/execute/memory/device_heap.h"
#include "tracegen/execute/memory/device_memory.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// The seed of the first other order; the following ones count up. Any number would do: the same one in all captures
// makes them comparable.
inline constexpr uint64_t kFirstOrderSeed = 1;

struct CertifyOptions {
  uint32_t runs = 0;                         // other orders
  std::string folder;                        // for a file that holds the launch's records meanwhile
  uint64_t max_instructions = ~uint64_t{0};  // of a run in the usual order
  bool lockstep = false;
  bool allow_outside_reads = false;  // as in RunnerOptions
};

// A launch that is about to run.
struct CertifiedLaunch {
  const InstrumentedKernel& kernel;  // that records
  KernelEntry entry;
  const void* const* arguments;
  const Geometry& geometry;
  const trace::Program& program;
  std::function<bool(uint64_t block)> is_recorded;  // whether a block's records are compared; empty = all
};

// Runs all blocks of the launch 1 + `runs` times, from the same contents of device memory each time: once in the usual
// order, as when it is recorded, and then in others. Memory and heap are as before in the end. A run in another order
// that fails, or takes 16 times as many instructions, is part of the answer (Certificate.failure), and the last one.
// Where the run in the usual order fails, a block records more than 16 M accesses, or there is no space for the file,
// the certificate has no runs, and a failure that says why. Its launch is left open. Errors: CancelledError alone.
//
// Races in global memory are looked for in the records of the usual order, and memory is compared after each order
// (GlobalRaces).
//
// Memory: pages that the kernel writes, twice more, and what GlobalRaces takes; one block's records twice; 24 bytes per
// block.
absl::StatusOr<trace::v1::Certificate> CertifyLaunch(const CertifiedLaunch& launch, const CertifyOptions& options,
                                                     DeviceMemory& memory, DeviceHeap* heap);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_CERTIFY_H_
