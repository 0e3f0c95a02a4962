// What instructions do to memory, as checks of a recording see it, and what divides threads into intervals.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_ACCESS_KIND_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_ACCESS_KIND_H_

#include <cstdint>

#include "absl/strings/match.h"
#include "proto/trace.pb.h"

namespace heddle::tracegen {

// Kinds of accesses, which form sets; and of what stands between intervals.
struct AccessKind {
  enum Value : uint8_t { kLoad = 1, kStore = 2, kAtomic = 4, kBarrier = 8, kWarpOperation = 16 };

  // Of an instruction that has an address.
  static Value Of(const trace::v1::Instruction& instruction) {
    return instruction.op() == trace::v1::OP_ATOMIC  ? kAtomic
           : instruction.op() == trace::v1::OP_STORE ? kStore
                                                     : kLoad;
  }
};

// Shuffles, votes and syncwarp of today's form, which the threads of their mask reach together.
inline bool SynchronizesWarp(const trace::v1::Instruction& instruction) {
  return instruction.op() == trace::v1::OP_WARP && absl::StrContains(instruction.mnemonic(), "sync");
}

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_ACCESS_KIND_H_
