// Random small machines, for tests that must hold on every machine.
#ifndef HEDDLE_TESTS_RANDOM_RANDOM_MACHINE_H_
#define HEDDLE_TESTS_RANDOM_RANDOM_MACHINE_H_

#include <cstdint>

#include "proto/machine.pb.h"

namespace heddle::replay {

struct MachineNeeds {
  uint32_t warp_size = 4;
  uint32_t threads_per_block = 16;  // at least one such block fits
  uint32_t registers_per_thread = 8;
  uint32_t instructions = 1;  // of the program, for scripted latencies
};

// One to five SMs, one or two schedulers, all SIMD widths, short and long latencies, limits on threads, blocks and
// registers, and scripted latencies of chosen threads.
machine::v1::Machine RandomMachine(uint64_t seed, const MachineNeeds& needs);

// RandomMachine with instruction buffers: one to four schedulers, buffers of one to four instructions, one to four per
// fetch, one to three units of a class, all kinds of latencies, with and without operand collectors.
machine::v1::Machine RandomBufferMachine(uint64_t seed, const MachineNeeds& needs);

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_RANDOM_RANDOM_MACHINE_H_
