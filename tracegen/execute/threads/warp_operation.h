// What the operations that meet the lanes of a warp give to each of them.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_WARP_OPERATION_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_WARP_OPERATION_H_

#include <cstdint>

#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

// What a lane brings: its value, and the operands b and c of a shuffle (PTX ISA, shfl.sync).
struct LaneOperands {
  uint64_t value = 0;
  uint32_t b = 0;
  uint32_t c = 0;
};

// Computes what each of `lanes` (a mask, not 0) gets. `operands` and `results` are by lane; of other lanes neither is
// touched. Shuffles and match.all give a predicate in bit 32 besides. A shuffle from a lane that does not take part,
// which is undefined, gives 0.
void ComputeWarpOperation(WarpOperation operation, uint32_t lanes, const LaneOperands* operands, uint64_t* results);

// As messages name it: "shuffle", "vote".
const char* NameOf(WarpOperation operation);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_WARP_OPERATION_H_
