// Which matrix instructions there are, and how many registers they take.
#include "traces/format/program/matrix_shapes.h"

#include "gtest/gtest.h"

namespace heddle::trace {
namespace {

using Matrix = v1::Matrix;

Matrix Product(uint32_t m, uint32_t n, uint32_t k, Matrix::Type a, Matrix::Type b, Matrix::Type sum) {
  Matrix matrix;
  matrix.set_role(Matrix::MULTIPLY);
  matrix.set_m(m);
  matrix.set_n(n);
  matrix.set_k(k);
  matrix.set_a(a);
  matrix.set_b(b);
  matrix.set_c(sum);
  matrix.set_d(sum);
  return matrix;
}

void ExpectRegisters(MatrixForm form, const Matrix& product, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  const std::optional<MatrixRegisters> registers = RegistersOfProduct(form, product);
  ASSERT_TRUE(registers.has_value()) << product.ShortDebugString();
  EXPECT_EQ(registers->a, a) << product.ShortDebugString();
  EXPECT_EQ(registers->b, b) << product.ShortDebugString();
  EXPECT_EQ(registers->c, c) << product.ShortDebugString();
  EXPECT_EQ(registers->d, d) << product.ShortDebugString();
  EXPECT_TRUE(IsMatrixInstruction(product));
}

// PTX ISA 9.7.14.5: the lists of operands of each shape.
TEST(MatrixShapesTest, RegistersOfProducts) {
  using enum MatrixForm;
  ExpectRegisters(kRegisters, Product(16, 8, 16, Matrix::F16, Matrix::F16, Matrix::F32), 4, 2, 4, 4);
  ExpectRegisters(kRegisters, Product(16, 8, 16, Matrix::F16, Matrix::F16, Matrix::F16), 4, 2, 2, 2);
  ExpectRegisters(kRegisters, Product(8, 8, 4, Matrix::F16, Matrix::F16, Matrix::F32), 2, 2, 8, 8);
  ExpectRegisters(kRegisters, Product(16, 8, 4, Matrix::TF32, Matrix::TF32, Matrix::F32), 2, 1, 4, 4);
  ExpectRegisters(kRegisters, Product(16, 8, 16, Matrix::F64, Matrix::F64, Matrix::F64), 8, 4, 4, 4);
  ExpectRegisters(kRegisters, Product(8, 8, 4, Matrix::F64, Matrix::F64, Matrix::F64), 1, 1, 2, 2);
  ExpectRegisters(kRegisters, Product(16, 8, 32, Matrix::S8, Matrix::U8, Matrix::S32), 4, 2, 4, 4);
  ExpectRegisters(kRegisters, Product(8, 8, 128, Matrix::B1, Matrix::B1, Matrix::S32), 1, 1, 2, 2);
  ExpectRegisters(kRegisters, Product(16, 8, 32, Matrix::E4M3, Matrix::E5M2, Matrix::F32), 4, 2, 4, 4);
  ExpectRegisters(kFragments, Product(16, 16, 16, Matrix::F16, Matrix::F16, Matrix::F32), 8, 8, 8, 8);
  ExpectRegisters(kFragments, Product(32, 8, 16, Matrix::BF16, Matrix::BF16, Matrix::F32), 8, 2, 8, 8);
  ExpectRegisters(kFragments, Product(8, 32, 16, Matrix::U8, Matrix::U8, Matrix::S32), 1, 4, 8, 8);
  ExpectRegisters(kFragments, Product(16, 16, 8, Matrix::TF32, Matrix::TF32, Matrix::F32), 4, 4, 8, 8);
  Matrix mixed = Product(16, 16, 16, Matrix::F16, Matrix::F16, Matrix::F32);
  mixed.set_d(Matrix::F16);
  ExpectRegisters(kFragments, mixed, 8, 8, 8, 4);
  Matrix sparse = Product(16, 8, 32, Matrix::F16, Matrix::F16, Matrix::F32);
  EXPECT_FALSE(IsMatrixInstruction(sparse));
  sparse.set_sparse(true);
  ExpectRegisters(kRegisters, sparse, 4, 4, 4, 4);
}

TEST(MatrixShapesTest, ShapesAndTypesThatDoNotExist) {
  using enum MatrixForm;
  EXPECT_FALSE(IsMatrixInstruction(Product(16, 8, 17, Matrix::F16, Matrix::F16, Matrix::F32)));
  EXPECT_FALSE(IsMatrixInstruction(Product(16, 8, 16, Matrix::F16, Matrix::BF16, Matrix::F32)));
  EXPECT_FALSE(IsMatrixInstruction(Product(16, 8, 16, Matrix::F16, Matrix::F16, Matrix::S32)));
  EXPECT_FALSE(IsMatrixInstruction(Product(16, 8, 16, Matrix::BF16, Matrix::BF16, Matrix::F16)));
  EXPECT_FALSE(IsMatrixInstruction(Product(0, 0, 0, Matrix::F16, Matrix::F16, Matrix::F32)));
  EXPECT_FALSE(RegistersOfProduct(kFragments, Product(16, 8, 16, Matrix::F16, Matrix::F16, Matrix::F32)));
  Matrix unknown = Product(16, 8, 16, Matrix::F16, Matrix::F16, Matrix::F32);
  unknown.set_a(static_cast<Matrix::Type>(77));
  EXPECT_FALSE(IsMatrixInstruction(unknown));
  unknown.set_a(static_cast<Matrix::Type>(-5));
  EXPECT_FALSE(IsMatrixInstruction(unknown));
  unknown.clear_role();
  EXPECT_FALSE(IsMatrixInstruction(unknown));
}

TEST(MatrixShapesTest, Moves) {
  Matrix tiles;
  tiles.set_role(Matrix::LOAD);
  tiles.set_m(8);
  tiles.set_n(8);
  tiles.set_a(Matrix::B16);
  for (const uint32_t count : {0u, 1u, 2u, 4u}) {
    tiles.set_tiles(count);
    EXPECT_TRUE(IsMatrixInstruction(tiles)) << count;
  }
  tiles.set_tiles(3);
  EXPECT_FALSE(IsMatrixInstruction(tiles));
  tiles.set_role(Matrix::MOVE);
  tiles.set_tiles(1);
  EXPECT_TRUE(IsMatrixInstruction(tiles));
  Matrix fragment;
  fragment.set_role(Matrix::STORE);
  fragment.set_m(16);
  fragment.set_n(16);
  fragment.set_k(16);
  fragment.set_a(Matrix::F32);
  EXPECT_TRUE(IsMatrixInstruction(fragment));
  EXPECT_EQ(RegistersOfFragment(fragment)->c, 8u);
  EXPECT_EQ(RegistersOfFragment(fragment)->a, 0u);
  fragment.set_a(Matrix::F64);
  EXPECT_FALSE(IsMatrixInstruction(fragment));
}

}  // namespace
}  // namespace heddle::trace
