// The models of addresses: which there are, and what their records hold.
#include "traces/format/columns/models/column_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "traces/format/columns/models/costs.h"
#include "traces/format/columns/models/counter_budget.h"

namespace heddle::trace {
namespace {

using Column = v1::AddressColumn;
using ::testing::HasSubstr;

constexpr WalkedPaths::Column kTotal = {.accesses = 100, .threads = 8, .most = 20};

TEST(ColumnModels, AreThoseThatTheFormatDoesNotReserve) {
  for (int number = 0; number < Column::Model_ARRAYSIZE; ++number) {
    const bool reserved = number == Column::FIRST || number == Column::LORENZO || number == Column::FRAME;
    EXPECT_EQ(FindModel(static_cast<Column::Model>(number)) == nullptr, reserved) << number;
  }
  EXPECT_EQ(FindModel(static_cast<Column::Model>(Column::Model_ARRAYSIZE)), nullptr);
}

struct ShapeCase {
  Column::Model model;
  RecordShape shape;
};

class Shapes : public ::testing::TestWithParam<ShapeCase> {};

TEST_P(Shapes, SayWhatARecordHolds) {
  const RecordShape shape = FindModel(GetParam().model)->ShapeOf(kTotal);
  EXPECT_EQ(shape.bases, GetParam().shape.bases);
  EXPECT_EQ(shape.steps, GetParam().shape.steps);
  EXPECT_EQ(shape.residuals, GetParam().shape.residuals);
  EXPECT_EQ(shape.terms, GetParam().shape.terms);
  EXPECT_EQ(shape.chain_bias, GetParam().shape.chain_bias);
  EXPECT_EQ(shape.scalable, GetParam().shape.scalable);
}

INSTANTIATE_TEST_SUITE_P(Models, Shapes,
                         ::testing::Values(ShapeCase{Column::SEPARABLE, {.bases = 8, .steps = 19}},
                                           ShapeCase{Column::TIME, {.bases = 8, .residuals = 92, .scalable = false}},
                                           ShapeCase{Column::RELATIVE, {.residuals = 100}},
                                           ShapeCase{Column::CHAIN, {.residuals = 100, .chain_bias = true}},
                                           ShapeCase{Column::INDUCTION, {.bases = 8, .terms = true}},
                                           ShapeCase{Column::COUNTED,
                                                     {.bases = 8, .residuals = 92, .terms = true, .scalable = false}}),
                         [](const auto& info) { return Column::Model_Name(info.param.model); });

TEST(ColumnModels, RefuseARecordByItsInstruction) {
  Column record;
  record.set_instruction(7);
  const absl::Status status = RefuseColumn(record, "a rule");
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("column of instruction 7: a rule"));
}

TEST(CounterBudgetTest, CountsDifferentCountersOnly) {
  CounterBudget budget;
  std::vector<InductionTerm> terms;
  for (uint32_t block = 1; block <= kMostInductionCounters; ++block) terms.push_back({{block, 0}, 4});
  EXPECT_TRUE(budget.Allows(terms));
  budget.Take(terms);
  EXPECT_TRUE(budget.Allows(terms));
  const std::vector<InductionTerm> other = {{{kMostInductionCounters + 1, 0}, 4}};
  EXPECT_FALSE(budget.Allows(other));
  budget.Clear();
  EXPECT_TRUE(budget.Allows(other));
}

TEST(Costs, ARegularStrideCostsNextToNothing) {
  std::vector<int64_t> same(100, 128);
  std::vector<int64_t> scattered;
  for (int64_t i = 0; i < 100; ++i) scattered.push_back(i * i * 7919 % 65536);
  int64_t bias = 0;
  EXPECT_LT(CostWithBias(same, bias), 0.1);
  EXPECT_EQ(bias, 128);
  EXPECT_GT(CostWithBias(scattered, bias), 8);
}

TEST(Costs, BasesOnALineAreCheap) {
  std::vector<uint64_t> line;
  std::vector<uint64_t> scattered;
  for (uint64_t t = 0; t < 256; ++t) {
    line.push_back(0x1000 + 4 * t);
    scattered.push_back(t * t * 7919 % 65536);
  }
  EXPECT_TRUE(HasCheapBases(line));
  EXPECT_FALSE(HasCheapBases(scattered));
}

}  // namespace
}  // namespace heddle::trace
