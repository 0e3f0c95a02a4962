// Products of matrices.
#ifndef HEDDLE_TRACEGEN_MATRIX_PRODUCT_H_
#define HEDDLE_TRACEGEN_MATRIX_PRODUCT_H_

#include <cstdint>

#include "tracegen/matrix/lane_registers.h"
#include "tracegen/matrix/layout.h"
#include "tracegen/matrix/operation.h"

namespace heddle::tracegen {

// D = A * B + C of one operation of kind kMultiply, with everything that does not depend on the numbers.
class MatrixProduct {
 public:
  explicit MatrixProduct(const MatrixOperation& operation);

  // Takes the registers of 32 lanes and leaves the results in them; see ExecuteMatrixOperation for the order in which
  // sums are made.
  void Multiply(LaneRegisters* lanes) const;

 private:
  struct Packed;  // operands and result as they are packed

  void Gather(const MatrixLayout& layout, uint32_t first, uint32_t word_count, const LaneRegisters* lanes,
              uint32_t* packed) const;
  void Scatter(const uint32_t* packed, LaneRegisters* lanes) const;
  void MultiplySingles(Packed& packed) const;
  void MultiplyDoubles(Packed& packed) const;
  void MultiplyWholes(Packed& packed) const;
  void MultiplyBits(Packed& packed) const;

  const MatrixOperation operation_;
  const uint32_t products_;
  const MatrixLayout a_;
  const MatrixLayout b_;
  const MatrixLayout c_;
  const MatrixLayout d_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_MATRIX_PRODUCT_H_
