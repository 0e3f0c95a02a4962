// Residuals: every layout gives them back.
#include "traces/format/columns/residuals/residuals.h"

#include <gtest/gtest.h>

#include <bit>
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

// A column of layout BITS that holds `values`, bit after bit.
v1::AddressColumn BitsOf(const std::vector<uint64_t>& values, uint32_t scale) {
  v1::AddressColumn column;
  column.set_layout(v1::AddressColumn::BITS);
  column.set_nonnegative(true);
  column.set_scaled(scale != 0);
  column.set_residual_count(values.size());
  std::string bits;
  size_t position = 0;
  for (const uint64_t value : values) {
    const int length = std::bit_width(value);
    column.mutable_residual()->push_back(static_cast<char>(length == 0 ? 0 : length + static_cast<int>(scale)));
    for (int bit = 0; bit + 1 < length; ++bit, ++position) {
      if (position % 8 == 0) bits.push_back(0);
      bits.back() = static_cast<char>(bits.back() | ((value >> bit & 1) << (position % 8)));
    }
  }
  column.set_residual_bits(bits);
  return column;
}

// Short values are read in pairs, longer ones one by one, the last bytes with care: every length beside every other,
// and every number of values.
TEST(Layouts, BitsOfEveryLengthAreRead) {
  for (uint32_t longest = 0; longest <= 64; ++longest) {
    for (uint32_t shortest : {0u, longest, longest / 2}) {
      for (uint64_t count : {1, 3, 4, 5, 63, 200}) {
        const uint32_t scale = count > 5 && longest % 2 == 0 ? ScaleOf(count) : 0;
        std::vector<uint64_t> values;
        for (uint64_t i = 0; i < count; ++i) {
          const uint32_t length = shortest + static_cast<uint32_t>(Hash(i, longest) % (longest - shortest + 1));
          const uint64_t all = (Hash(i, 1) << 40 ^ Hash(i, 2) << 20 ^ Hash(i, 3)) | uint64_t{1} << 63;
          values.push_back(length == 0 ? 0 : all >> (64 - length));
        }
        const v1::AddressColumn column = BitsOf(values, scale);
        const std::vector<ThreadResiduals> threads = {{static_cast<uint32_t>(count), scale}};
        std::vector<int64_t> back;
        ASSERT_EQ(DecodeResiduals(column, count, threads, back), absl::OkStatus());
        ASSERT_EQ(std::vector<uint64_t>(back.begin(), back.end()), values) << "lengths up to " << longest;
        v1::AddressColumn wrong = column;
        if (wrong.residual_bits().empty()) continue;
        wrong.mutable_residual_bits()->pop_back();
        EXPECT_FALSE(DecodeResiduals(wrong, count, threads, back).ok());
        for (const int length : {65, 127, 128, 255, static_cast<int>(scale)}) {
          if (length == 0) continue;
          wrong = column;
          (*wrong.mutable_residual())[count / 2] = static_cast<char>(scale != 0 && length == 65 ? 65 + scale : length);
          EXPECT_FALSE(DecodeResiduals(wrong, count, threads, back).ok()) << "length " << length;
        }
      }
    }
  }
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
