// Moves of matrices between memory and registers, and within registers.
#ifndef HEDDLE_TRACEGEN_MATRIX_MOVE_H_
#define HEDDLE_TRACEGEN_MATRIX_MOVE_H_

#include <cstdint>

#include "tracegen/matrix/lane_registers.h"
#include "tracegen/matrix/layout.h"
#include "tracegen/matrix/operation.h"

namespace heddle::tracegen {

// wmma.load and wmma.store: each lane moves what it holds, at its own address.
class FragmentMove {
 public:
  explicit FragmentMove(const MatrixOperation& operation)
      : operation_(operation), layout_(LayoutOf(operation, MatrixOperand::kA)) {}

  // Of the lanes in `present`.
  void Move(uint32_t present, LaneRegisters* lanes) const;

 private:
  void MoveLane(uint32_t lane, LaneRegisters& registers) const;

  const MatrixOperation operation_;
  const MatrixLayout layout_;
};

// ldmatrix and stmatrix: lanes 8 * t to 8 * t + 7 hand in the addresses of the rows of tile t. Register t of lane l has
// the elements 2 * (l % 4) and one more of row l / 4 of tile t; transposed, of its column l / 4. A row without an
// address reads as zeros.
void MoveTiles(const MatrixOperation& operation, uint32_t present, LaneRegisters* lanes);

// movmatrix: as if a tile were stored and loaded transposed.
void TransposeTile(LaneRegisters* lanes);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_MATRIX_MOVE_H_
