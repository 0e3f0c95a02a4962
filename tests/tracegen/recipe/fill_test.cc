// Contents of buffers: reproducible, and distributed as asked.
#include "tracegen/recipe/fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "google/protobuf/text_format.h"
#include "tracegen/contents/kind_text.h"
#include "tracegen/contents/sparse_matrix.h"

namespace heddle::tracegen {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> Make(const std::string& text, recipe::v1::ScalarType type, uint64_t count) {
  recipe::v1::Fill fill;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &fill));
  RecipeFile recipe;
  absl::StatusOr<std::string> bytes = MakeContents(fill, type, count, recipe);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  std::vector<double> values;
  for (uint64_t i = 0; bytes.ok() && i < count; ++i) values.push_back(ReadScalar(bytes->data(), type, i));
  return values;
}

TEST(FillTest, SimpleFills) {
  EXPECT_THAT(Make("zeros {}", recipe::v1::I32, 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(Make("iota {}", recipe::v1::I16, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(Make("iota { start: 5 step: -2 }", recipe::v1::F32, 3), ElementsAre(5, 3, 1));
  EXPECT_THAT(Make("constant { value: 2.5 }", recipe::v1::F64, 2), ElementsAre(2.5, 2.5));
  EXPECT_THAT(Make("values { value: [1, 2] }", recipe::v1::U8, 5), ElementsAre(1, 2, 1, 2, 1));
}

TEST(FillTest, NumbersNeverChange) {
  // These pin the generators: traces of old recipes must stay what they were.
  EXPECT_EQ(Make("uniform { seed: 1 low: 0 high: 999 }", recipe::v1::I32, 4),
            Make("uniform { seed: 1 low: 0 high: 999 }", recipe::v1::I32, 4));
  EXPECT_NE(Make("uniform { seed: 1 low: 0 high: 999 }", recipe::v1::I32, 4),
            Make("uniform { seed: 2 low: 0 high: 999 }", recipe::v1::I32, 4));
}

TEST(FillTest, UniformIntegersReachBothEnds) {
  std::vector<double> values = Make("uniform { seed: 9 low: -2 high: 2 }", recipe::v1::I8, 1000);
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), -2);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 2);
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / 1000, 0, 0.15);
}

TEST(FillTest, UniformFloatsStayBelowTheEnd) {
  std::vector<double> values = Make("uniform { seed: 3 low: 1 high: 2 }", recipe::v1::F32, 10000);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), 1);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 2);
}

TEST(FillTest, NormalHasMeanAndDeviation) {
  std::vector<double> values = Make("normal { seed: 4 mean: 10 deviation: 3 }", recipe::v1::F64, 20000);
  double mean = std::accumulate(values.begin(), values.end(), 0.0) / 20000;
  double square = 0;
  for (double v : values) square += (v - mean) * (v - mean);
  EXPECT_NEAR(mean, 10, 0.1);
  EXPECT_NEAR(std::sqrt(square / 20000), 3, 0.1);
}

TEST(FillTest, ZipfPrefersSmallNumbers) {
  std::vector<double> values = Make("zipf { seed: 4 exponent: 1 n: 100 }", recipe::v1::U32, 20000);
  auto count = [&](double v) { return std::count(values.begin(), values.end(), v); };
  EXPECT_NEAR(static_cast<double>(count(1)) / static_cast<double>(count(2)), 2, 0.3);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), 1);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 100);
}

TEST(FillTest, PermutationHoldsEveryNumberOnce) {
  std::vector<double> values = Make("permutation { seed: 6 }", recipe::v1::I32, 1000);
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  std::sort(values.begin(), values.end());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(values[i], i);
}

TEST(SparseMatrixTest, RowsAddUpAndAreSortedWithoutDoubles) {
  contents::Csr shape = {.seed = 1, .rows = 500, .mean_degree = 7.5, .max_degree = 100};
  for (double skew : {0.0, 0.8, 1.5}) {
    shape.skew = skew;
    contents::SparseMatrix matrix;
    ASSERT_EQ(contents::MakeSparseMatrix(shape, {.pow = std::pow}, &matrix), "");
    EXPECT_EQ(matrix.row_pointers.size(), 501);
    EXPECT_EQ(matrix.column_indices.size(), 3750);
    EXPECT_EQ(matrix.row_pointers.back(), 3750);
    uint64_t longest = 0;
    for (int r = 0; r < 500; ++r) {
      uint64_t begin = matrix.row_pointers[r];
      uint64_t end = matrix.row_pointers[r + 1];
      longest = std::max(longest, end - begin);
      for (uint64_t i = begin; i < end; ++i) {
        EXPECT_LT(matrix.column_indices[i], 500);
        if (i > begin) {
          EXPECT_LT(matrix.column_indices[i - 1], matrix.column_indices[i]);
        }
      }
    }
    EXPECT_LE(longest, 100);
    if (skew == 0) {
      EXPECT_EQ(longest, 8);
    }
    if (skew > 1) {
      EXPECT_EQ(longest, 100);
    }
  }
}

TEST(SparseMatrixTest, WhatCannotBeMadeIsRefused) {
  contents::SparseMatrix matrix;
  EXPECT_THAT(contents::MakeSparseMatrix({.rows = 10, .mean_degree = 11}, {}, &matrix),
              HasSubstr("largest degree, 10"));
  // Without the function that makes them the same everywhere.
  EXPECT_THAT(contents::MakeSparseMatrix({.rows = 10, .mean_degree = 2, .skew = 1}, {}, &matrix), HasSubstr("skew"));
}

TEST(SparseMatrixTest, LengthsThatAreGivenMakeTheSameMatrix) {
  const contents::Functions functions = {.pow = std::pow};
  contents::Csr shape = {.seed = 3, .rows = 200, .mean_degree = 6, .skew = 0.7, .max_degree = 50};
  contents::SparseMatrix computed, given;
  ASSERT_EQ(contents::MakeSparseMatrix(shape, functions, &computed), "");
  shape.lengths = contents::SkewedRowLengths(shape, functions);
  EXPECT_TRUE(contents::NeedsNoFunctions(shape));
  ASSERT_EQ(contents::MakeSparseMatrix(shape, {}, &given), "");
  EXPECT_EQ(computed.row_pointers, given.row_pointers);
  EXPECT_EQ(computed.column_indices, given.column_indices);
  ++shape.lengths[0];
  EXPECT_THAT(contents::MakeSparseMatrix(shape, {}, &given), HasSubstr("another shape"));
}

TEST(ContentsTest, TextGivesTheSameBytes) {
  const std::vector<std::string> fills = {
      "zeros {}",
      "iota { start: 0.1 step: 3 }",
      "constant { value: -1e-300 }",
      "uniform { seed: 5 low: -0.3 high: 1e9 }",
      "permutation { seed: 9 }",
      "values { value: 1 value: 0.1 value: -7e22 }",
      "csr { seed: 2 rows: 100 mean_degree: 3 array: COLUMN_INDICES }",
      "csr { seed: 2 rows: 299 columns: 7 mean_degree: 3 max_degree: 5 array: ROW_POINTERS }"};
  for (const std::string& text : fills) {
    recipe::v1::Fill fill;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &fill));
    absl::StatusOr<std::string> expected = MakeContents(fill, recipe::v1::F64, 300, RecipeFile());
    ASSERT_TRUE(expected.ok()) << text << expected.status();
    absl::StatusOr<contents::Kind> kind = KindOf(fill);
    ASSERT_TRUE(kind.ok() && contents::NeedsNoFunctions(*kind));
    const std::optional<contents::Kind> read = contents::KindFromText(contents::KindAsText(*kind));
    ASSERT_TRUE(read.has_value()) << contents::KindAsText(*kind);
    contents::Made made = contents::Make(*read, contents::Scalar::kF64, 300, {}, nullptr);
    EXPECT_EQ(made.error, "");
    EXPECT_EQ(made.bytes, *expected) << text;
  }
  for (const char* wrong : {"", "what 1", "iota 1", "iota 1 2 3", "uniform x 0 1", "uniform -1 0 1", "constant nan?",
                            "csr 1 2 3 4 5 6 rows"}) {
    EXPECT_FALSE(contents::KindFromText(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace heddle::tracegen
