// Which thread of a warp holds which elements of a matrix, in which register.
#ifndef HEDDLE_TRACEGEN_MATRIX_LAYOUT_H_
#define HEDDLE_TRACEGEN_MATRIX_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "tracegen/matrix/operation.h"

namespace heddle::tracegen {

// The registers of all lanes as parts of one packed matrix. The elements of a register lie side by side in it, so the
// matrix is a list of units, each as wide as a register: A by rows, B by columns, C and D by rows, from element (0, 0)
// on, without gaps. So element (i, j) of A is element i * k + j of the list.
//
// The PTX manual shows the layouts of `mma` as figures (PTX ISA 9.7.14.5). All but one follow one formula. A is cut
// into tiles of 8 rows by 4 registers; lane l holds register l % 4 of row l / 4 of every tile, and tiles are numbered
// down the rows first. B likewise, with columns for rows. C and D are cut into tiles of 8 by 8 elements, of which a
// lane holds the two at columns 2 * (l % 4) and one more of row l / 4. The other one is m8n8k4 in half precision
// (9.7.14.5.1): four products at once, each in the eight lanes of two quads, (l % 16) / 4 being its number; its
// matrices lie one behind the other, and each of A and B as the instruction's layout says (A by columns is column after
// column).
//
// Fragments (`wmma`) are the machine's own affair. Here they follow the same formula; where a fragment has more
// registers than its share of the matrix, the others repeat the first.
struct MatrixLayout {
  uint32_t registers = 0;       // of a lane
  uint32_t distinct = 0;        // of these, before they repeat
  uint32_t elements = 1;        // of a register
  std::vector<uint16_t> units;  // by lane * registers + register
};

enum class MatrixOperand : uint8_t { kA, kB, kC, kD };

// kMultiply: of one of the operands. Fragments: kA, whatever the part.
MatrixLayout LayoutOf(const MatrixOperation& operation, MatrixOperand operand);

// Products that the operation makes at once: 4 for m8n8k4 in half precision, else 1.
uint32_t ProductsAtOnce(const MatrixOperation& operation);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_MATRIX_LAYOUT_H_
