// What a thread brings to a matrix instruction of its warp, and what it takes away.
#ifndef HEDDLE_TRACEGEN_MATRIX_LANE_REGISTERS_H_
#define HEDDLE_TRACEGEN_MATRIX_LANE_REGISTERS_H_

#include <cstdint>

namespace heddle::tracegen {

// Generated code writes operands here and reads results (lower_matrix.cc).
struct alignas(16) LaneRegisters {
  // The most that an instruction has is 32: A, B and C of m16n8k16 in double precision.
  static constexpr uint32_t kWords = 36;

  uint64_t address = 0;  // loads and stores: of the matrix, or of a row of a tile
  uint32_t stride = 0;   // fragments: from one row (or column) to the next, in elements
  uint32_t unused = 0;
  // Registers of A, B and C, one behind the other; registers of 64 bits have two words, the lower one first. Then the
  // results, from the first word on.
  uint32_t words[kWords] = {};
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_MATRIX_LANE_REGISTERS_H_
