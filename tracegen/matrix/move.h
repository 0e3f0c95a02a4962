// Moves of matrices between memory and registers, and within registers.
#ifndef HEDDLE_TRACEGEN_MATRIX_MOVE_H_
#define HEDDLE_TRACEGEN_MATRIX_MOVE_H_

#include <cstdint>
#include <vector>

#include "tracegen/matrix/lane_registers.h"
#include "tracegen/matrix/layout.h"
#include "tracegen/matrix/operation.h"

namespace heddle::tracegen {

// wmma.load and wmma.store: each lane moves what it holds, at its own address.
class FragmentMove {
 public:
  explicit FragmentMove(const MatrixOperation& operation);

  // Of the lanes in `present`.
  void Move(uint32_t present, LaneRegisters* lanes) const;

 private:
  // Where the elements of a register lie: in a line of the packed matrix, from an element on.
  struct Piece {
    uint16_t line = 0;
    uint16_t at = 0;
  };

  void MoveLane(uint32_t lane, LaneRegisters& registers) const;
  // The elements of a register lie side by side in memory.
  template <typename Register>
  void MoveRegisters(const Piece* pieces, LaneRegisters& registers) const;

  const MatrixOperation operation_;
  const MatrixLayout layout_;
  std::vector<Piece> pieces_;  // by lane and register; without those that repeat others
};

// ldmatrix and stmatrix: lanes 8 * t to 8 * t + 7 hand in the addresses of the rows of tile t. Register t of lane l has
// the elements 2 * (l % 4) and one more of row l / 4 of tile t; transposed, of its column l / 4. A row without an
// address reads as zeros.
void MoveTiles(const MatrixOperation& operation, uint32_t present, LaneRegisters* lanes);

// movmatrix: as if a tile were stored and loaded transposed.
void TransposeTile(LaneRegisters* lanes);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_MATRIX_MOVE_H_
