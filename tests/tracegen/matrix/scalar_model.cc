#include "tests/tracegen/matrix/scalar_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"

namespace heddle::tracegen {
namespace {

constexpr uint32_t kWarp = 32;

uint32_t BitsOf(const std::string& type) {
  if (type == "b1") return 1;
  if (type == "s4" || type == "u4") return 4;
  if (type == "s8" || type == "u8" || type == "e4m3" || type == "e5m2") return 8;
  if (type == "f16" || type == "bf16") return 16;
  return type == "f64" ? 64 : 32;
}

bool IsQuads(const ProductForm& form) { return form.k == 4 && form.a == "f16"; }
uint32_t ProductsAtOnce(const ProductForm& form) { return IsQuads(form) ? 4 : 1; }

struct Place {
  uint32_t product = 0, row = 0, column = 0;
};

// Element `i` of A that a lane holds, as the figures of 9.7.14.5.1 to 9.7.14.5.13 say.
Place PlaceInA(const ProductForm& form, uint32_t lane, uint32_t i) {
  const uint32_t group = lane >> 2, in_group = lane % 4;
  if (IsQuads(form)) {
    const uint32_t product = lane % 16 / 4;
    if (!form.a_by_columns) return {product, lane % 4 + (lane < 16 ? 0 : 4), i};
    return {product, i % 4 + (lane < 16 ? 0 : 4), lane % 4};
  }
  const uint32_t bits = BitsOf(form.a);
  if (form.m == 8) return {0, group, bits == 64 ? in_group : in_group * (32 / bits) + i};
  switch (bits) {
    case 1:
      return {0, i < 32 || (i >= 64 && i < 96) ? group : group + 8, in_group * 32 + (i & 31) + (i < 64 ? 0 : 128)};
    case 4:
      return {0, i < 8 || (i >= 16 && i < 24) ? group : group + 8, in_group * 8 + (i & 7) + (i < 16 ? 0 : 32)};
    case 8:
      return {0, i < 4 || (i >= 8 && i < 12) ? group : group + 8, in_group * 4 + (i & 3) + (i < 8 ? 0 : 16)};
    case 16:
      return {0, i < 2 || (i >= 4 && i < 6) ? group : group + 8, in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    case 32:
      return {0, i == 0 || i == 2 ? group : group + 8, i < 2 ? in_group : in_group + 4};
    default:
      return {0, i % 2 == 0 ? group : group + 8, i / 2 * 4 + in_group};
  }
}

// Of B: `row` is k, `column` is n.
Place PlaceInB(const ProductForm& form, uint32_t lane, uint32_t i) {
  const uint32_t group = lane >> 2, in_group = lane % 4;
  if (IsQuads(form)) {
    const uint32_t product = lane % 16 / 4;
    if (form.b_by_columns) return {product, i, lane % 4 + (lane < 16 ? 0 : 4)};
    return {product, lane % 4, i + (lane < 16 ? 0 : 4)};
  }
  switch (BitsOf(form.b)) {
    case 1:
      return {0, in_group * 32 + (i & 31) + (i < 32 ? 0 : 128), group};
    case 4:
      return {0, in_group * 8 + (i & 7) + (i < 8 ? 0 : 32), group};
    case 8:
      return {0, in_group * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
    case 16:
      return {0, in_group * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
    default:
      return {0, in_group + 4 * i, group};
  }
}

Place PlaceInSum(const ProductForm& form, const std::string& type, uint32_t lane, uint32_t i) {
  if (IsQuads(form)) {
    const uint32_t product = lane % 16 / 4;
    const uint32_t upper = lane < 16 ? 0 : 4;
    if (type == "f16") return {product, lane % 4 + upper, i};
    return {product, (lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
  }
  return {0, (lane >> 2) + (i < 2 ? 0 : 8), lane % 4 * 2 + (i & 1)};
}

uint64_t ElementAt(const std::vector<uint32_t>& words, uint32_t first, uint32_t bits, uint32_t i) {
  if (bits == 64) return words[first + 2 * i] | uint64_t{words[first + 2 * i + 1]} << 32;
  const uint32_t per_word = 32 / bits;
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  return words[first + i / per_word] >> (i % per_word * bits) & mask;
}

double HalfNumber(uint32_t bits, int exponent_bits, int significand_bits, bool has_infinity) {
  const int width = exponent_bits + significand_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>(bits >> significand_bits & ((1u << exponent_bits) - 1));
  const auto significand = static_cast<double>(bits & ((1u << significand_bits) - 1));
  const double one = std::ldexp(1.0, significand_bits);
  double value =
      exponent == 0 ? std::ldexp(significand / one, 1 - bias) : std::ldexp(1 + significand / one, exponent - bias);
  if (has_infinity && exponent == (1 << exponent_bits) - 1) {
    value = significand == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  if (!has_infinity && (bits & ((1u << width) - 1)) == (1u << width) - 1) {
    value = std::numeric_limits<double>::quiet_NaN();
  }
  return (bits >> width & 1) != 0 ? -value : value;
}

double Number(const std::string& type, uint64_t bits) {
  const auto low = static_cast<uint32_t>(bits);
  if (type == "f16") return HalfNumber(low, 5, 10, true);
  if (type == "bf16") return std::bit_cast<float>(low << 16);
  if (type == "tf32") return std::bit_cast<float>(low & 0xffffe000);
  if (type == "f32") return std::bit_cast<float>(low);
  if (type == "e4m3") return HalfNumber(low, 4, 3, false);
  if (type == "e5m2") return HalfNumber(low, 5, 2, true);
  if (type == "f64") return std::bit_cast<double>(bits);
  if (type == "s8") return static_cast<int8_t>(low);
  if (type == "s4") return static_cast<int>(low) - (low >= 8 ? 16 : 0);
  if (type == "s32") return static_cast<int32_t>(low);
  return low;
}

// To nearest, ties to even.
uint32_t HalfBits(float value) {
  const uint32_t sign = std::bit_cast<uint32_t>(value) >> 16 & 0x8000;
  const double size = std::fabs(static_cast<double>(value));
  if (std::isnan(value)) return sign | 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  int exponent = -14;
  if (size >= std::ldexp(1.0, -14)) exponent = std::ilogb(size);
  const double steps = std::nearbyint(std::ldexp(size, 10 - exponent));  // of the last place
  const auto whole = static_cast<uint32_t>(steps);
  return sign | (exponent == -14 ? whole : whole + (static_cast<uint32_t>(exponent + 14) << 10));
}

template <typename T>
class Matrix {
 public:
  Matrix(uint32_t products, uint32_t rows, uint32_t columns)
      : rows_(rows), columns_(columns), all_(size_t{products} * rows * columns) {}
  T& At(const Place& place) { return all_[(place.product * rows_ + place.row) * columns_ + place.column]; }

 private:
  uint32_t rows_, columns_;
  std::vector<T> all_;
};

uint32_t ElementCount(uint32_t words, const std::string& type) { return words * 32 / BitsOf(type); }

void AddForms(const std::string& shape, uint32_t m, uint32_t n, uint32_t k, const std::vector<std::string>& inputs,
              bool mixed, const std::vector<std::string>& sums, std::vector<ProductForm>& forms) {
  for (const std::string& a : inputs) {
    for (const std::string& b : inputs) {
      if (a != b && !mixed) continue;
      for (const std::string& sum : sums) {
        ProductForm form;
        form.m = m;
        form.n = n;
        form.k = k;
        form.a = a;
        form.b = b;
        form.c = form.d = sum;
        form.mnemonic = absl::StrCat("mma.sync.aligned.", shape, ".row.col.", sum, ".", a, ".", b, ".", sum);
        forms.push_back(form);
        if (sum != "s32" || a == "b1") continue;
        form.saturates = true;
        form.mnemonic = absl::StrCat("mma.sync.aligned.", shape, ".row.col.satfinite.", sum, ".", a, ".", b, ".", sum);
        forms.push_back(form);
      }
    }
  }
}

}  // namespace

std::vector<ProductForm> AllProductForms() {
  std::vector<ProductForm> forms;
  AddForms("m16n8k8", 16, 8, 8, {"f16"}, false, {"f16", "f32"}, forms);
  AddForms("m16n8k16", 16, 8, 16, {"f16"}, false, {"f16", "f32"}, forms);
  AddForms("m16n8k8", 16, 8, 8, {"bf16"}, false, {"f32"}, forms);
  AddForms("m16n8k16", 16, 8, 16, {"bf16"}, false, {"f32"}, forms);
  AddForms("m16n8k4", 16, 8, 4, {"tf32"}, false, {"f32"}, forms);
  AddForms("m16n8k8", 16, 8, 8, {"tf32"}, false, {"f32"}, forms);
  AddForms("m8n8k4", 8, 8, 4, {"f64"}, false, {"f64"}, forms);
  AddForms("m16n8k4", 16, 8, 4, {"f64"}, false, {"f64"}, forms);
  AddForms("m16n8k8", 16, 8, 8, {"f64"}, false, {"f64"}, forms);
  AddForms("m16n8k16", 16, 8, 16, {"f64"}, false, {"f64"}, forms);
  AddForms("m8n8k16", 8, 8, 16, {"s8", "u8"}, true, {"s32"}, forms);
  AddForms("m16n8k16", 16, 8, 16, {"s8", "u8"}, true, {"s32"}, forms);
  AddForms("m16n8k32", 16, 8, 32, {"s8", "u8"}, true, {"s32"}, forms);
  AddForms("m8n8k32", 8, 8, 32, {"s4", "u4"}, true, {"s32"}, forms);
  AddForms("m16n8k32", 16, 8, 32, {"s4", "u4"}, true, {"s32"}, forms);
  AddForms("m16n8k64", 16, 8, 64, {"s4", "u4"}, true, {"s32"}, forms);
  AddForms("m16n8k32", 16, 8, 32, {"e4m3", "e5m2"}, true, {"f16", "f32"}, forms);
  AddForms("m16n8k16", 16, 8, 16, {"e4m3", "e5m2"}, true, {"f16", "f32"}, forms);
  for (const bool is_and : {false, true}) {
    for (const auto& [shape, m, k] :
         {std::tuple{"m8n8k128", 8u, 128u}, {"m16n8k128", 16u, 128u}, {"m16n8k256", 16u, 256u}}) {
      std::vector<ProductForm> one;
      AddForms(shape, m, 8, k, {"b1"}, false, {"s32"}, one);
      one[0].bits_by_and = is_and;
      absl::StrAppend(&one[0].mnemonic, is_and ? ".and.popc" : ".xor.popc");
      forms.push_back(one[0]);
    }
  }
  for (const bool a_by_columns : {false, true}) {
    for (const bool b_by_columns : {false, true}) {
      for (const char* c : {"f16", "f32"}) {
        for (const char* d : {"f16", "f32"}) {
          ProductForm form;
          form.m = form.n = 8;
          form.k = 4;
          form.a = form.b = "f16";
          form.c = c;
          form.d = d;
          form.a_by_columns = a_by_columns;
          form.b_by_columns = b_by_columns;
          form.mnemonic = absl::StrCat("mma.sync.aligned.m8n8k4.", a_by_columns ? "col" : "row", ".",
                                       b_by_columns ? "col" : "row", ".", d, ".f16.f16.", c);
          forms.push_back(form);
        }
      }
    }
  }
  return forms;
}

WordCounts CountWords(const ProductForm& form) {
  const uint32_t at_once = ProductsAtOnce(form);
  const auto words = [at_once](uint32_t elements, const std::string& type) {
    return at_once * elements * BitsOf(type) / 32 / kWarp;
  };
  return {words(form.m * form.k, form.a), words(form.n * form.k, form.b), words(form.m * form.n, form.c),
          words(form.m * form.n, form.d)};
}

LaneWords RandomOperands(const ProductForm& form, std::mt19937& random) {
  const WordCounts count = CountWords(form);
  const auto fill = [&](const std::string& type, uint32_t words, std::vector<uint32_t>& lane) {
    for (uint32_t i = 0; i < words; ++i) {
      uint32_t word = random();
      const uint32_t draw = random() % 16;
      if (draw == 0) word = 0;
      // Exponents that are neither infinite nor make all sums so; one word in eight keeps a denormal or a large number.
      if (type == "f16") {
        const uint32_t exponents = draw == 1 ? 0x8fff8fff : 0xbfffbfff;
        word &= exponents;
        if (draw != 1) word |= 0x20002000;
        if (draw == 0) word = 0x80000000;
      } else if (type == "bf16") {
        word = (word & 0x807f807f) | 0x3f803f80 | (draw == 1 ? 0x00800000 : 0);
      } else if (type == "tf32" || type == "f32") {
        word = (word & 0x807fffff) | (0x3f000000 + (random() % 3 << 23));
      } else if (type == "f64") {
        if (lane.size() % 2 == 1) word = (word & 0x800fffff) | (0x3ff00000 + (random() % 5 << 20));
      } else if (type == "e4m3") {
        word &= 0xf7f7f7f7;  // no NaN
      } else if (type == "e5m2") {
        word &= 0xefefefef;
      } else if (type == "s32" && draw < 4) {
        word = draw < 2 ? 0x7fffff80 : 0x80000040;  // sums that leave the range
      }
      lane.push_back(word);
    }
  };
  LaneWords lanes(kWarp);
  for (std::vector<uint32_t>& lane : lanes) {
    fill(form.a, count.a, lane);
    fill(form.b, count.b, lane);
    fill(form.c, count.c, lane);
  }
  return lanes;
}

LaneWords WholeOperands(const ProductForm& form, std::mt19937& random) {
  const WordCounts count = CountWords(form);
  const auto element = [&](const std::string& type) -> uint64_t {
    const uint32_t size = random() % 4;
    const bool negative = size != 0 && random() % 2 == 1;
    if (BitsOf(type) < 8 || type == "s8" || type == "u8" || type == "s32") return random() & 1;
    const double number = negative ? -static_cast<double>(size) : size;
    if (type == "f64") return std::bit_cast<uint64_t>(number);
    const auto single = std::bit_cast<uint32_t>(static_cast<float>(number));
    if (type == "f32" || type == "tf32") return single;
    if (type == "bf16") return single >> 16;
    static constexpr uint32_t kHalf[] = {0, 0x3c00, 0x4000, 0x4200};
    if (type == "f16") return kHalf[size] | (negative ? 0x8000 : 0);
    static constexpr uint32_t kE4m3[] = {0, 0x38, 0x40, 0x44}, kE5m2[] = {0, 0x3c, 0x40, 0x42};
    return (type == "e4m3" ? kE4m3 : kE5m2)[size] | (negative ? 0x80u : 0u);
  };
  const auto fill = [&](const std::string& type, uint32_t words, std::vector<uint32_t>& lane) {
    const uint32_t bits = BitsOf(type);
    for (uint32_t i = 0; i < words * 32 / std::max(bits, 32u); ++i) {
      uint64_t packed = 0;
      for (uint32_t at = 0; at < std::max(bits, 32u); at += bits) packed |= element(type) << at;
      lane.push_back(static_cast<uint32_t>(packed));
      if (bits == 64) lane.push_back(static_cast<uint32_t>(packed >> 32));
    }
  };
  LaneWords lanes(kWarp);
  for (std::vector<uint32_t>& lane : lanes) {
    fill(form.a, count.a, lane);
    fill(form.b, count.b, lane);
    fill(form.c, count.c, lane);
  }
  return lanes;
}

LaneWords ScalarProduct(const ProductForm& form, const LaneWords& operands) {
  const WordCounts count = CountWords(form);
  const uint32_t at_once = ProductsAtOnce(form);
  Matrix<double> a(at_once, form.m, form.k), b(at_once, form.k, form.n), c(at_once, form.m, form.n),
      d(at_once, form.m, form.n);
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    for (uint32_t i = 0; i < ElementCount(count.a, form.a); ++i) {
      a.At(PlaceInA(form, lane, i)) = Number(form.a, ElementAt(operands[lane], 0, BitsOf(form.a), i));
    }
    for (uint32_t i = 0; i < ElementCount(count.b, form.b); ++i) {
      b.At(PlaceInB(form, lane, i)) = Number(form.b, ElementAt(operands[lane], count.a, BitsOf(form.b), i));
    }
    for (uint32_t i = 0; i < ElementCount(count.c, form.c); ++i) {
      c.At(PlaceInSum(form, form.c, lane, i)) =
          Number(form.c, ElementAt(operands[lane], count.a + count.b, BitsOf(form.c), i));
    }
  }
  for (uint32_t product = 0; product < at_once; ++product) {
    for (uint32_t i = 0; i < form.m; ++i) {
      for (uint32_t j = 0; j < form.n; ++j) {
        double sum = c.At({product, i, j});
        for (uint32_t k = 0; k < form.k; ++k) {
          const double x = a.At({product, i, k}), y = b.At({product, k, j});
          if (form.a == "b1") {
            sum += form.bits_by_and ? x * y : (x != y ? 1 : 0);
          } else if (form.d == "s32") {
            sum += x * y;  // whole numbers below 2^53
          } else if (form.d == "f64") {
            sum = std::fma(x, y, sum);
          } else {
            sum = std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(sum));
          }
        }
        d.At({product, i, j}) = sum;
      }
    }
  }
  LaneWords results(kWarp);
  for (uint32_t lane = 0; lane < kWarp; ++lane) {
    results[lane].assign(count.d, 0);
    for (uint32_t i = 0; i < ElementCount(count.d, form.d); ++i) {
      const double value = d.At(PlaceInSum(form, form.d, lane, i));
      if (form.d == "f64") {
        const auto bits = std::bit_cast<uint64_t>(value);
        results[lane][2 * i] = static_cast<uint32_t>(bits);
        results[lane][2 * i + 1] = static_cast<uint32_t>(bits >> 32);
      } else if (form.d == "f16") {
        results[lane][i / 2] |= HalfBits(static_cast<float>(value)) << 16 * (i % 2);
      } else if (form.d == "f32") {
        results[lane][i] = std::bit_cast<uint32_t>(static_cast<float>(value));
      } else {
        auto whole = static_cast<int64_t>(value);
        if (form.saturates) whole = std::max<int64_t>(INT32_MIN, std::min<int64_t>(INT32_MAX, whole));
        results[lane][i] = static_cast<uint32_t>(whole);
      }
    }
  }
  return results;
}

}  // namespace heddle::tracegen
