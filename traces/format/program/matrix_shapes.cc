#include "traces/format/program/matrix_shapes.h"

#include <initializer_list>

namespace heddle::trace {
namespace {

using Matrix = v1::Matrix;
using enum MatrixForm;

// A set of types, one bit each.
constexpr uint32_t Types(std::initializer_list<Matrix::Type> types) {
  uint32_t set = 0;
  for (const Matrix::Type type : types) set |= 1u << type;
  return set;
}

constexpr uint32_t kF16 = Types({Matrix::F16}), kBf16 = Types({Matrix::BF16}), kTf32 = Types({Matrix::TF32});
constexpr uint32_t kF32 = Types({Matrix::F32}), kF64 = Types({Matrix::F64}), kS32 = Types({Matrix::S32});
constexpr uint32_t kByte = Types({Matrix::S8, Matrix::U8}), kNibble = Types({Matrix::S4, Matrix::U4});
constexpr uint32_t kBit = Types({Matrix::B1}), kFp8 = Types({Matrix::E4M3, Matrix::E5M2});
constexpr uint32_t kHalfOrSingle = kF16 | kF32;

// Products of one shape.
struct Row {
  MatrixForm form;
  uint16_t m, n, k;
  uint32_t inputs;  // types of A and B
  uint32_t sums;    // types of C and D
  // Whether A and B, and C and D, may have two types of the set.
  bool mixed_inputs = false;
  bool mixed_sums = false;
  bool sparse = false;
};

constexpr Row kRows[] = {
    {kRegisters, 8, 8, 4, kF16, kHalfOrSingle, false, true},
    {kRegisters, 16, 8, 8, kF16, kHalfOrSingle},
    {kRegisters, 16, 8, 16, kF16, kHalfOrSingle},
    {kRegisters, 16, 8, 8, kBf16, kF32},
    {kRegisters, 16, 8, 16, kBf16, kF32},
    {kRegisters, 16, 8, 4, kTf32, kF32},
    {kRegisters, 16, 8, 8, kTf32, kF32},
    {kRegisters, 8, 8, 4, kF64, kF64},
    {kRegisters, 16, 8, 4, kF64, kF64},
    {kRegisters, 16, 8, 8, kF64, kF64},
    {kRegisters, 16, 8, 16, kF64, kF64},
    {kRegisters, 8, 8, 16, kByte, kS32, true},
    {kRegisters, 16, 8, 16, kByte, kS32, true},
    {kRegisters, 16, 8, 32, kByte, kS32, true},
    {kRegisters, 8, 8, 32, kNibble, kS32, true},
    {kRegisters, 16, 8, 32, kNibble, kS32, true},
    {kRegisters, 16, 8, 64, kNibble, kS32, true},
    {kRegisters, 8, 8, 128, kBit, kS32},
    {kRegisters, 16, 8, 128, kBit, kS32},
    {kRegisters, 16, 8, 256, kBit, kS32},
    {kRegisters, 16, 8, 16, kFp8, kHalfOrSingle, true},
    {kRegisters, 16, 8, 32, kFp8, kHalfOrSingle, true},

    {kRegisters, 16, 8, 16, kF16, kHalfOrSingle, false, false, true},
    {kRegisters, 16, 8, 32, kF16, kHalfOrSingle, false, false, true},
    {kRegisters, 16, 8, 16, kBf16, kF32, false, false, true},
    {kRegisters, 16, 8, 32, kBf16, kF32, false, false, true},
    {kRegisters, 16, 8, 8, kTf32, kF32, false, false, true},
    {kRegisters, 16, 8, 16, kTf32, kF32, false, false, true},
    {kRegisters, 16, 8, 32, kByte, kS32, true, false, true},
    {kRegisters, 16, 8, 64, kByte, kS32, true, false, true},
    {kRegisters, 16, 8, 64, kNibble, kS32, true, false, true},
    {kRegisters, 16, 8, 128, kNibble, kS32, true, false, true},
    {kRegisters, 16, 8, 64, kFp8, kHalfOrSingle, true, false, true},

    {kFragments, 16, 16, 16, kF16, kHalfOrSingle, false, true},
    {kFragments, 32, 8, 16, kF16, kHalfOrSingle, false, true},
    {kFragments, 8, 32, 16, kF16, kHalfOrSingle, false, true},
    {kFragments, 16, 16, 16, kBf16, kF32},
    {kFragments, 32, 8, 16, kBf16, kF32},
    {kFragments, 8, 32, 16, kBf16, kF32},
    {kFragments, 16, 16, 8, kTf32, kF32},
    {kFragments, 8, 8, 4, kF64, kF64},
    {kFragments, 16, 16, 16, kByte, kS32},
    {kFragments, 32, 8, 16, kByte, kS32},
    {kFragments, 8, 32, 16, kByte, kS32},
    {kFragments, 8, 8, 32, kNibble, kS32},
    {kFragments, 8, 8, 128, kBit, kS32},
};

bool Has(uint32_t set, Matrix::Type type) { return type > 0 && type < 32 && (set >> type & 1) != 0; }

bool HasShape(const Row& row, const Matrix& matrix) {
  return row.m == matrix.m() && row.n == matrix.n() && row.k == matrix.k();
}

uint32_t RegistersFor(uint32_t elements, Matrix::Type type) {
  const uint32_t bits = MatrixElementBits(type);
  return type == Matrix::F64 ? elements / kMatrixThreads : elements * bits / 32 / kMatrixThreads;
}

// Fragments of half precision have 16 elements in each thread, whatever the shape: some have elements twice and more.
constexpr uint32_t kHalfFragment = 8;

uint32_t InputRegisters(const Row& row, uint32_t elements, Matrix::Type type) {
  if (row.form == kFragments && type == Matrix::F16) return kHalfFragment;
  // The quads of m8n8k4 in half precision make four products at once.
  if (row.k == 4 && type == Matrix::F16) elements *= 4;
  return RegistersFor(elements, type);
}

uint32_t SumRegisters(const Row& row, Matrix::Type type) {
  const bool four_at_once = row.form == kRegisters && row.k == 4 && row.inputs == kF16;
  return RegistersFor(uint32_t{row.m} * row.n * (four_at_once ? 4 : 1), type);
}

}  // namespace

uint32_t MatrixElementBits(Matrix::Type type) {
  switch (type) {
    case Matrix::B1:
      return 1;
    case Matrix::S4:
    case Matrix::U4:
      return 4;
    case Matrix::S8:
    case Matrix::U8:
    case Matrix::E4M3:
    case Matrix::E5M2:
    case Matrix::B8:
      return 8;
    case Matrix::F16:
    case Matrix::BF16:
    case Matrix::B16:
      return 16;
    case Matrix::S32:
    case Matrix::TF32:
    case Matrix::F32:
      return 32;
    case Matrix::F64:
      return 64;
    default:
      return 0;
  }
}

std::optional<MatrixRegisters> RegistersOfProduct(MatrixForm form, const Matrix& product) {
  for (const Row& row : kRows) {
    if (row.form != form || row.sparse != product.sparse() || !HasShape(row, product)) continue;
    if (!Has(row.inputs, product.a()) || !Has(row.inputs, product.b())) continue;
    if (!Has(row.sums, product.c()) || !Has(row.sums, product.d())) continue;
    if (product.a() != product.b() && !row.mixed_inputs) continue;
    if (product.c() != product.d() && !row.mixed_sums) continue;
    const uint32_t held = row.sparse ? row.k / 2u : row.k;  // of a row of A
    return MatrixRegisters{InputRegisters(row, uint32_t{row.m} * held, product.a()),
                           InputRegisters(row, uint32_t{row.n} * row.k, product.b()), SumRegisters(row, product.c()),
                           SumRegisters(row, product.d())};
  }
  return std::nullopt;
}

std::optional<MatrixRegisters> RegistersOfFragment(const Matrix& move) {
  for (const Row& row : kRows) {
    if (row.form != kFragments || !HasShape(row, move)) continue;
    MatrixRegisters registers;
    if (Has(row.inputs, move.a())) {
      registers.a = InputRegisters(row, uint32_t{row.m} * row.k, move.a());
      registers.b = InputRegisters(row, uint32_t{row.n} * row.k, move.a());
    }
    if (Has(row.sums, move.a())) registers.c = registers.d = SumRegisters(row, move.a());
    if (registers.a != 0 || registers.c != 0) return registers;
  }
  return std::nullopt;
}

bool IsMatrixInstruction(const Matrix& matrix) {
  const uint32_t tiles = matrix.tiles() == 0 ? 1 : matrix.tiles();
  const bool is_tile = matrix.m() == 8 && matrix.n() == 8 && matrix.k() == 0 && matrix.a() == Matrix::B16;
  switch (matrix.role()) {
    case Matrix::MULTIPLY:
      return tiles == 1 && (RegistersOfProduct(kRegisters, matrix) || RegistersOfProduct(kFragments, matrix));
    case Matrix::LOAD:
    case Matrix::STORE:
      if (matrix.sparse()) return false;
      if (is_tile) return tiles == 1 || tiles == 2 || tiles == 4;
      return tiles == 1 && RegistersOfFragment(matrix).has_value();
    case Matrix::MOVE:
      return is_tile && tiles == 1 && !matrix.sparse();
    default:
      return false;
  }
}

}  // namespace heddle::trace
