// What instructions do to memory, as checks of a recording see it, and what divides threads into intervals.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_ACCESS_KIND_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_ACCESS_KIND_H_

#include <cstdint>

#include "proto/trace.pb.h"
#include "traces/format/program/operands.h"

namespace heddle::tracegen {

// Kinds of accesses, which form sets; and of what stands between intervals.
struct AccessKind {
  enum Value : uint8_t { kLoad = 1, kStore = 2, kAtomic = 4, kBarrier = 8, kWarpOperation = 16 };

  // Of a column that is an address.
  static Value Of(const trace::Column& column) {
    return column.access == trace::v1::OP_ATOMIC ? kAtomic : column.access == trace::v1::OP_STORE ? kStore : kLoad;
  }
};

inline bool IsAddress(const trace::Column& column) { return column.kind == trace::v1::Operand::ADDRESS; }

// Barriers at which the thread waits for others of its block.
inline bool WaitsForBlock(const trace::v1::Instruction& instruction) {
  return instruction.op() == trace::v1::OP_BARRIER && instruction.barrier_role() != trace::v1::BARRIER_ARRIVE;
}

using trace::SynchronizesWarp;

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_ACCESS_KIND_H_
