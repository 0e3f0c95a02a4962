// Residuals: every layout gives them back.
#include "traces/format/residuals.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace heddle::trace {
namespace {

uint64_t Hash(uint64_t a, uint64_t b) { return (a * 0x9e3779b97f4a7c15 ^ (b + 77) * 0xd6e8feb86659fd93) >> 20; }

struct LayoutCase {
  const char* name;
  v1::AddressColumn::Layout layout;
  bool sparse;
  bool scaled;
};

class Layouts : public ::testing::TestWithParam<LayoutCase> {};

TEST_P(Layouts, GiveResidualsOfEveryWidthBack) {
  for (int width = 1; width <= 8; ++width) {
    for (uint32_t shift : {0u, 3u, 40u}) {
      std::vector<int64_t> residuals;
      for (uint64_t i = 0; i < 300; ++i) {
        const int64_t value = static_cast<int64_t>(Hash(i, width) << 20 ^ Hash(i, 5)) >> (64 - 8 * width);
        residuals.push_back(
            GetParam().sparse && i % 4 != 1 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(value) << shift));
      }
      LayoutChoice choice{GetParam().layout, GetParam().sparse, GetParam().scaled};
      // Most residuals are not in the dictionary, and one that is does not occur.
      const bool dictionary = GetParam().layout == v1::AddressColumn::DICTIONARY;
      if (dictionary) choice.dictionary = {residuals[5], residuals[299], 12345};
      const std::vector<ThreadResiduals> threads = {{100, ScaleOf(100)}, {0, 0}, {199, ScaleOf(199)}, {1, ScaleOf(1)}};
      v1::AddressColumn column;
      column.set_bias(5);
      EncodeResiduals(residuals, threads, false, choice, column);
      EXPECT_EQ(column.layout(), GetParam().layout);
      EXPECT_EQ(column.sparse_gap().empty(), !GetParam().sparse);
      EXPECT_EQ(column.scaled(), GetParam().scaled);
      std::vector<int64_t> back;
      ASSERT_EQ(DecodeResiduals(column, residuals.size(), threads, back), absl::OkStatus());
      // What all residuals have in common may have become part of the bias.
      for (int64_t& r : back)
        r = static_cast<int64_t>(static_cast<uint64_t>(r) + static_cast<uint64_t>(column.bias()) - 5);
      ASSERT_EQ(back, residuals) << "width " << width << " shift " << shift;
    }
  }
}

// Residuals of the forms: all above a large number, both signs, a single one.
TEST(Layouts, BitsKeepWhateverIsCommonInTheBias) {
  for (const std::vector<int64_t>& residuals :
       {std::vector<int64_t>{1000, 1004, 1000, 5096}, {-8, 16, 24}, {7}, {-7, -7}, {INT64_MIN, INT64_MAX, 0}}) {
    LayoutChoice choice{v1::AddressColumn::BITS, false, false};
    v1::AddressColumn column;
    EncodeResiduals(residuals, {}, false, choice, column);
    std::vector<int64_t> back;
    ASSERT_EQ(DecodeResiduals(column, residuals.size(), {}, back), absl::OkStatus());
    for (int64_t& r : back) r = static_cast<int64_t>(static_cast<uint64_t>(r) + static_cast<uint64_t>(column.bias()));
    EXPECT_EQ(back, residuals);
  }
}

// 1000 + {0, 4, 0, 4096}: shifted by 2 the numbers are 0, 1, 0 and 1024, whose bit lengths are 0, 1, 0 and 11; only the
// ten bits below the leading one of the last are left, all zero.
TEST(Layouts, BitsAreLengthsAndTheBitsBelowTheLeadingOne) {
  LayoutChoice choice{v1::AddressColumn::BITS, false, false};
  v1::AddressColumn column;
  EncodeResiduals(std::vector<int64_t>{1000, 1004, 1000, 5096}, {}, false, choice, column);
  EXPECT_TRUE(column.nonnegative());
  EXPECT_EQ(column.bias(), 1000);
  EXPECT_EQ(column.shift(), 2);
  EXPECT_EQ(column.residual(), std::string("\0\1\0\13", 4));
  EXPECT_EQ(column.residual_bits(), std::string(2, '\0'));
}

INSTANTIATE_TEST_SUITE_P(All, Layouts,
                         ::testing::Values(LayoutCase{"planes", v1::AddressColumn::PLANES, false, false},
                                           LayoutCase{"planes_sparse", v1::AddressColumn::PLANES, true, false},
                                           LayoutCase{"varint", v1::AddressColumn::VARINT, false, false},
                                           LayoutCase{"varint_sparse", v1::AddressColumn::VARINT, true, false},
                                           LayoutCase{"dictionary", v1::AddressColumn::DICTIONARY, false, false},
                                           LayoutCase{"bits", v1::AddressColumn::BITS, false, false},
                                           LayoutCase{"bits_sparse", v1::AddressColumn::BITS, true, false},
                                           LayoutCase{"bits_scaled", v1::AddressColumn::BITS, false, true}),
                         [](const auto& info) { return info.param.name; });

// Few different values that say nothing about one another: two fit into a byte.
TEST(Layouts, FewValuesHaveADictionary) {
  std::vector<int64_t> residuals;
  for (uint64_t i = 0; i < 20'001; ++i) {
    residuals.push_back(static_cast<int64_t>((Hash(Hash(i, 1) % 7, 9) & 0xffffff) << 20));
  }
  residuals[77] = -(int64_t{5} << 20);  // occurs once
  LayoutChoice choice;
  v1::AddressColumn column;
  EncodeResiduals(residuals, {}, true, choice, column);
  EXPECT_EQ(column.layout(), v1::AddressColumn::DICTIONARY);
  EXPECT_EQ(column.dictionary_size(), 7);
  EXPECT_EQ(column.residual().size(), 10'001u);
  EXPECT_EQ(column.other_values().size(), 1u);
  std::vector<int64_t> back;
  ASSERT_EQ(DecodeResiduals(column, residuals.size(), {}, back), absl::OkStatus());
  EXPECT_EQ(back, residuals);

  const auto refused = [&](const std::function<void(v1::AddressColumn&)>& change) {
    v1::AddressColumn changed = column;
    change(changed);
    return absl::IsDataLoss(DecodeResiduals(changed, residuals.size(), {}, back));
  };
  EXPECT_FALSE(refused([](auto&) {}));
  EXPECT_TRUE(refused([](auto& c) { c.mutable_residual()->push_back('\0'); }));
  EXPECT_TRUE(refused([](auto& c) { c.mutable_residual()->pop_back(); }));
  EXPECT_TRUE(refused([](auto& c) { c.mutable_residual()->front() = 8; }));  // behind the place of other values
  EXPECT_TRUE(refused([](auto& c) { c.clear_other_values(); }));
  EXPECT_TRUE(refused([](auto& c) { c.mutable_other_values()->push_back('\1'); }));
  EXPECT_TRUE(refused([](auto& c) { c.mutable_dictionary()->Resize(256, 1); }));
  EXPECT_TRUE(refused([](auto& c) { c.mutable_dictionary()->Resize(16, 1); }));  // places of a byte
  EXPECT_TRUE(refused([](auto& c) { c.set_sparse_gap(std::string(1, '\0')); }));
  EXPECT_TRUE(refused([](auto& c) { c.set_layout(v1::AddressColumn::VARINT); }));
}

TEST(Layouts, NothingButZerosTakesNoBytes) {
  LayoutChoice choice;
  v1::AddressColumn column;
  EncodeResiduals(std::vector<int64_t>(1000, 0), {}, true, choice, column);
  EXPECT_EQ(column.layout(), v1::AddressColumn::ZERO);
  EXPECT_TRUE(column.residual().empty());
}

}  // namespace
}  // namespace heddle::trace
