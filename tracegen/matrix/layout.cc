#include "tracegen/matrix/layout.h"

#include <algorithm>

namespace heddle::tracegen {
namespace {

using Matrix = trace::v1::Matrix;
using Kind = MatrixOperation::Kind;
using Part = MatrixOperation::Part;

constexpr uint32_t kTileRows = 8;

// Unit of a register of A; of B, if `lines` is its number of columns. `length` is that of a line, in units.
uint32_t InputUnit(uint32_t lane, uint32_t number, uint32_t lines, uint32_t length) {
  const uint32_t tiles = lines / kTileRows;
  const uint32_t line = lane / 4 + kTileRows * (number % tiles);
  return line * length + lane % 4 + 4 * (number / tiles);
}

// Of C and D, in elements: `first` is the first element of the register, counted over the lane's registers.
uint32_t SumElement(uint32_t lane, uint32_t first, uint32_t rows, uint32_t columns) {
  const uint32_t tiles = rows / kTileRows;
  const uint32_t tile = first / 2;
  const uint32_t row = lane / 4 + kTileRows * (tile % tiles);
  return row * columns + kTileRows * (tile / tiles) + 2 * (lane % 4) + first % 2;
}

// m8n8k4 in half precision: rows and columns are those of one of the four products.
constexpr uint32_t kQuadRows = 8, kQuadDepth = 4;

uint32_t QuadInputElement(uint32_t lane, uint32_t number, bool lines_of_depth) {
  const uint32_t product = lane % 16 / 4;
  const uint32_t upper = lane < 16 ? 0 : 4;
  const uint32_t start = product * kQuadRows * kQuadDepth;
  // Four elements of a row of A (column of B); or of a column of A (row of B), whose other half the upper lane has.
  if (lines_of_depth) return start + (lane % 4 + upper) * kQuadDepth + 2 * number;
  return start + lane % 4 * kQuadRows + upper + 2 * number;
}

uint32_t QuadSumElement(uint32_t lane, uint32_t number, bool is_half) {
  const uint32_t start = lane % 16 / 4 * kQuadRows * kQuadRows;
  const uint32_t upper = lane < 16 ? 0 : 4;
  if (is_half) return start + (lane % 4 + upper) * kQuadRows + 2 * number;
  const uint32_t row = (lane & 1) + (number & 2) + upper;
  const uint32_t column = (number & 4) + (lane & 2) + (number & 1);
  return start + row * kQuadRows + column;
}

}  // namespace

uint32_t ProductsAtOnce(const MatrixOperation& operation) {
  return operation.kind == Kind::kMultiply && operation.form == trace::MatrixForm::kRegisters &&
                 operation.a == Matrix::F16 && operation.k == kQuadDepth
             ? 4
             : 1;
}

MatrixLayout LayoutOf(const MatrixOperation& operation, MatrixOperand operand) {
  const trace::MatrixRegisters registers = RegistersOf(operation);
  const bool multiplies = operation.kind == Kind::kMultiply;
  // Of a fragment the part says which operand it is of.
  MatrixOperand role = operand;
  if (!multiplies) {
    role = operation.part == Part::kA   ? MatrixOperand::kA
           : operation.part == Part::kB ? MatrixOperand::kB
                                        : MatrixOperand::kD;
  }
  MatrixOperation::Type type = operation.a;
  MatrixLayout layout;
  layout.registers = registers.a;
  if (multiplies && operand == MatrixOperand::kB) {
    type = operation.b;
    layout.registers = registers.b;
  } else if (multiplies && operand == MatrixOperand::kC) {
    type = operation.c;
    layout.registers = registers.c;
  } else if (multiplies && operand == MatrixOperand::kD) {
    type = operation.d;
    layout.registers = registers.d;
  }
  layout.elements = RegisterBits(type) / trace::MatrixElementBits(type);
  const bool is_sum = role == MatrixOperand::kC || role == MatrixOperand::kD;
  const bool quads = ProductsAtOnce(operation) == 4;
  const uint32_t lines = role == MatrixOperand::kB ? operation.n : operation.m;
  const uint32_t length = is_sum ? operation.n : operation.k;
  layout.distinct = quads ? layout.registers : std::min(layout.registers, lines * length / layout.elements / kWarp);
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    for (uint32_t i = 0; i < layout.registers; ++i) {
      const uint32_t number = i % layout.distinct;
      uint32_t unit = 0;
      if (quads && is_sum) {
        unit = QuadSumElement(lane, number, type == Matrix::F16) / layout.elements;
      } else if (quads) {
        const bool along_depth = role == MatrixOperand::kA ? !operation.a_by_columns : operation.b_by_columns;
        unit = QuadInputElement(lane, number, along_depth) / layout.elements;
      } else if (is_sum) {
        unit = SumElement(lane, number * layout.elements, lines, length) / layout.elements;
      } else {
        unit = InputUnit(lane, number, lines, length / layout.elements);
      }
      layout.units.push_back(static_cast<uint16_t>(unit));
    }
  }
  return layout;
}

}  // namespace heddle::tracegen
