// Contents of buffers: reproducible, and distributed as asked.
#include "tracegen/recipe/fill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "google/protobuf/text_format.h"
#include "tracegen/recipe/sparse_matrix.h"

namespace heddle::tracegen {
namespace {

using ::testing::ElementsAre;

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
  recipe::v1::Fill::Csr shape;
  shape.set_seed(1);
  shape.set_rows(500);
  shape.set_mean_degree(7.5);
  for (double skew : {0.0, 0.8, 1.5}) {
    shape.set_skew(skew);
    shape.set_max_degree(100);
    absl::StatusOr<SparseMatrix> matrix = MakeSparseMatrix(shape);
    ASSERT_TRUE(matrix.ok());
    EXPECT_EQ(matrix->row_pointers.size(), 501);
    EXPECT_EQ(matrix->column_indices.size(), 3750);
    EXPECT_EQ(matrix->row_pointers.back(), 3750);
    uint64_t longest = 0;
    for (int r = 0; r < 500; ++r) {
      uint64_t begin = matrix->row_pointers[r];
      uint64_t end = matrix->row_pointers[r + 1];
      longest = std::max(longest, end - begin);
      for (uint64_t i = begin; i < end; ++i) {
        EXPECT_LT(matrix->column_indices[i], 500);
        if (i > begin) {
          EXPECT_LT(matrix->column_indices[i - 1], matrix->column_indices[i]);
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

TEST(SparseMatrixTest, MoreElementsThanFitAreRefused) {
  recipe::v1::Fill::Csr shape;
  shape.set_rows(10);
  shape.set_mean_degree(11);
  EXPECT_FALSE(MakeSparseMatrix(shape).ok());
}

}  // namespace
}  // namespace heddle::tracegen
