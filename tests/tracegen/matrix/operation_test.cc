// What the text of matrix instructions says.
#include "tracegen/matrix/operation.h"

#include "gtest/gtest.h"
#include "tests/tracegen/matrix/scalar_model.h"

namespace heddle::tracegen {
namespace {

using Matrix = trace::v1::Matrix;
using Kind = MatrixOperation::Kind;

TEST(MatrixOperationTest, EveryFormSurvivesItsNumber) {
  std::vector<std::string> texts = {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16",
                                    "wmma.load.b.sync.aligned.col.m8n8k128.shared::cta.b1",
                                    "wmma.store.d.sync.aligned.col.m32n8k16.f16",
                                    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16",
                                    "wmma.mma.sync.aligned.col.row.m16n16k8.f32.tf32.tf32.f32",
                                    "wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
                                    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
                                    "stmatrix.sync.aligned.m8n8.x2.shared.b16",
                                    "movmatrix.sync.aligned.m8n8.trans.b16"};
  for (const ProductForm& form : AllProductForms()) texts.push_back(form.mnemonic);
  for (const std::string& text : texts) {
    const std::optional<MatrixOperation> operation = ParseMatrixOperation(text);
    ASSERT_TRUE(operation.has_value()) << text;
    EXPECT_TRUE(DecodeMatrixOperation(Encode(*operation)) == *operation) << text;
    EXPECT_TRUE(trace::IsMatrixInstruction(operation->Describe())) << text;
  }
}

TEST(MatrixOperationTest, Products) {
  const MatrixOperation mixed = *ParseMatrixOperation("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f32");
  EXPECT_EQ(mixed.kind, Kind::kMultiply);
  EXPECT_EQ(mixed.d, Matrix::F16);
  EXPECT_EQ(mixed.c, Matrix::F32);
  EXPECT_EQ(mixed.a, Matrix::F16);
  EXPECT_EQ(RegistersRead(mixed), 24u);
  EXPECT_EQ(RegistersWritten(mixed), 4u);
  const MatrixOperation bytes = *ParseMatrixOperation("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32");
  EXPECT_TRUE(bytes.saturates);
  EXPECT_EQ(bytes.a, Matrix::U8);
  EXPECT_EQ(bytes.b, Matrix::S8);
  const Matrix described = bytes.Describe();
  EXPECT_EQ(described.role(), Matrix::MULTIPLY);
  EXPECT_EQ(described.k(), 32u);
  EXPECT_EQ(described.a_registers(), 4u);
  EXPECT_EQ(described.b_registers(), 2u);
  EXPECT_EQ(described.c_registers(), 4u);
}

TEST(MatrixOperationTest, Moves) {
  const MatrixOperation tiles = *ParseMatrixOperation("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16");
  EXPECT_EQ(tiles.share_bytes(), 16u);
  EXPECT_EQ(RegistersWritten(tiles), 2u);
  EXPECT_EQ(tiles.Describe().tiles(), 2u);
  EXPECT_TRUE(tiles.Describe().transposed());
  const MatrixOperation fragment = *ParseMatrixOperation("wmma.load.b.sync.aligned.col.m16n16k16.f16");
  EXPECT_EQ(fragment.part, MatrixOperation::Part::kB);
  EXPECT_TRUE(fragment.by_columns);
  EXPECT_EQ(fragment.share_bytes(), 16u);
  EXPECT_EQ(fragment.Describe().role(), Matrix::LOAD);
  EXPECT_EQ(fragment.line(), 16u);
  EXPECT_EQ(fragment.shares_of_line(), 2u);
}

TEST(MatrixOperationTest, WhatIsNotExecuted) {
  for (const char* text :
       {"add.s32", "mma", "mma.sync.aligned.m16n8k17.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
        "mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
        "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", "ldmatrix.sync.aligned.m8n8.shared.b16",
        "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8", "wmma.load.a.sync.aligned.row.m16n16k16.s32",
        "wmma.load.a.sync.aligned.col.m8n8k128.b1", "wmma.load.b.sync.aligned.row.m8n8k32.u4",
        "mma.sync.aligned.m4000000000n8k16.row.col.f32.f16.f16.f32", "wmma..", "mma.sync.aligned.mn.k"}) {
    EXPECT_FALSE(ParseMatrixOperation(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace heddle::tracegen
