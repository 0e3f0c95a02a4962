// What executed machine code does beside computing: convergence barriers, control bits, uniform registers.
#ifndef HEDDLE_TOOLS_SHOW_MACHINE_MIX_H_
#define HEDDLE_TOOLS_SHOW_MACHINE_MIX_H_

#include <array>
#include <cstdint>

#include "proto/trace.pb.h"
#include "traces/format/program/program.h"

namespace heddle::tools {

// [thread-instructions] unless said otherwise.
struct MachineMix {
  uint64_t instructions = 0;  // of machine code
  // At convergence barriers, by what they do there.
  std::array<uint64_t, trace::v1::Convergence::Role_ARRAYSIZE> by_role = {};
  uint64_t uniform = 0;       // that write registers, all of them of the whole warp
  uint64_t scheduled = 0;     // with control bits; of these:
  uint64_t stall_cycles = 0;  // [cycles] until the next instruction, summed
  uint64_t yields = 0;        // that let another warp go first
  uint64_t waits = 0;         // that wait for a barrier of an earlier instruction

  uint64_t operator[](trace::v1::Convergence::Role role) const { return by_role[role]; }
  // Adds `runs` runs of a basic block, if the program is machine code.
  void Add(const trace::Program& program, const trace::Block& block, uint64_t runs);
  void Add(const MachineMix& other);
};

}  // namespace heddle::tools

#endif  // HEDDLE_TOOLS_SHOW_MACHINE_MIX_H_
