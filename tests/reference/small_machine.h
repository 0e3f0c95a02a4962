// A small machine with instruction buffers, for cycles that are worked out by hand.
#ifndef HEDDLE_TESTS_REFERENCE_SMALL_MACHINE_H_
#define HEDDLE_TESTS_REFERENCE_SMALL_MACHINE_H_

#include "proto/machine.pb.h"

namespace heddle::replay {

// One SM with a port, warps of 4 on 4 lanes and one unit of each class. Cycles: SP latency 4; SFU latency 10 and
// initiation interval 3; memory 20, shared memory and parameters 5. Buffers of two instructions, both from one fetch:
// fetched in c, in the buffer at the end of c + 1, issued in c + 2.
machine::v1::Machine SmallIBufferMachine();

}  // namespace heddle::replay

#endif  // HEDDLE_TESTS_REFERENCE_SMALL_MACHINE_H_
