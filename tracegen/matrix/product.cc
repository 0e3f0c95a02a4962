#include "tracegen/matrix/product.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "tracegen/matrix/numbers.h"

namespace heddle::tracegen {
namespace {

using Matrix = trace::v1::Matrix;

// Most elements of A and of B, and of C and D, whichever shape: 16 by 64, 32 by 16; four times 8 by 8.
constexpr size_t kMostInputs = 1024;
constexpr size_t kMostSums = 256;

// Adds to `sums` (m by N, as A by rows and B by rows).
template <uint32_t N, typename T>
void AddProducts(uint32_t m, uint32_t k, const T* a, const T* b, T* sums) {
  for (uint32_t i = 0; i < m; ++i) {
    T row[N];
    for (uint32_t j = 0; j < N; ++j) row[j] = sums[i * N + j];
    for (uint32_t step = 0; step < k; ++step) {
      const T factor = a[i * k + step];
      const T* line = b + step * N;
      for (uint32_t j = 0; j < N; ++j) row[j] = std::fma(factor, line[j], row[j]);
    }
    for (uint32_t j = 0; j < N; ++j) sums[i * N + j] = row[j];
  }
}

template <typename T>
void AddProducts(uint32_t m, uint32_t n, uint32_t k, const T* a, const T* b, T* sums) {
  if (n == 8) return AddProducts<8>(m, k, a, b, sums);
  if (n == 16) return AddProducts<16>(m, k, a, b, sums);
  return AddProducts<32>(m, k, a, b, sums);
}

}  // namespace

struct MatrixProduct::Packed {
  alignas(32) uint32_t a[kMostInputs];
  alignas(32) uint32_t b[kMostInputs];
  alignas(32) uint32_t sums[2 * kMostSums];  // C, then D
};

MatrixProduct::MatrixProduct(const MatrixOperation& operation)
    : operation_(operation),
      products_(ProductsAtOnce(operation)),
      a_(LayoutOf(operation, MatrixOperand::kA)),
      b_(LayoutOf(operation, MatrixOperand::kB)),
      c_(LayoutOf(operation, MatrixOperand::kC)),
      d_(LayoutOf(operation, MatrixOperand::kD)) {}

void MatrixProduct::Multiply(LaneRegisters* lanes) const {
  Packed packed;
  const uint32_t wide = operation_.a == Matrix::F64 ? 2 : 1;
  Gather(a_, 0, wide, lanes, packed.a);
  Gather(b_, a_.registers * wide, wide, lanes, packed.b);
  Gather(c_, (a_.registers + b_.registers) * wide, wide, lanes, packed.sums);
  switch (operation_.a) {
    case Matrix::F64:
      MultiplyDoubles(packed);
      break;
    case Matrix::B1:
      MultiplyBits(packed);
      break;
    case Matrix::S8:
    case Matrix::U8:
    case Matrix::S4:
    case Matrix::U4:
      MultiplyWholes(packed);
      break;
    default:
      MultiplySingles(packed);
      break;
  }
  Scatter(packed.sums, lanes);
}

void MatrixProduct::Gather(const MatrixLayout& layout, uint32_t first, uint32_t word_count, const LaneRegisters* lanes,
                           uint32_t* packed) const {
  const uint16_t* units = layout.units.data();
  for (uint32_t lane = 0; lane < kWarp; ++lane, units += layout.registers) {
    const uint32_t* words = lanes[lane].words + first;
    for (uint32_t i = 0; i < layout.distinct; ++i) {
      if (word_count == 1) {
        packed[units[i]] = words[i];
      } else {
        packed[2 * units[i]] = words[2 * i];
        packed[2 * units[i] + 1] = words[2 * i + 1];
      }
    }
  }
}

void MatrixProduct::Scatter(const uint32_t* packed, LaneRegisters* lanes) const {
  const uint16_t* units = d_.units.data();
  const bool is_wide = operation_.d == Matrix::F64;
  for (uint32_t lane = 0; lane < kWarp; ++lane, units += d_.registers) {
    uint32_t* words = lanes[lane].words;
    for (uint32_t i = 0; i < d_.registers; ++i) {
      if (is_wide) {
        words[2 * i] = packed[2 * units[i]];
        words[2 * i + 1] = packed[2 * units[i] + 1];
      } else {
        words[i] = packed[units[i]];
      }
    }
  }
}

void MatrixProduct::MultiplySingles(Packed& packed) const {
  alignas(32) float a[kMostInputs], b[kMostInputs], turned[kMostInputs], sums[kMostSums];
  const uint32_t m = operation_.m, n = operation_.n, k = operation_.k;
  UnpackSingles(operation_.a, packed.a, size_t{products_} * m * k, a);
  UnpackSingles(operation_.b, packed.b, size_t{products_} * n * k, b);
  UnpackSingles(operation_.c, packed.sums, size_t{products_} * m * n, sums);
  // Only the quads have their operands in the layouts that the text names.
  const bool turn_a = products_ > 1 && operation_.a_by_columns;
  const bool turn_b = products_ == 1 || operation_.b_by_columns;
  for (uint32_t product = 0; product < products_; ++product) {
    const float* left = a + size_t{product} * m * k;
    const float* right = b + size_t{product} * n * k;
    float quad[32];
    if (turn_a) {
      Transpose(left, k, m, quad);
      left = quad;
    }
    if (turn_b) {
      Transpose(right, n, k, turned);
      right = turned;
    }
    AddProducts(m, n, k, left, right, sums + size_t{product} * m * n);
  }
  PackSingles(operation_.d, sums, size_t{products_} * m * n, packed.sums);
}

void MatrixProduct::MultiplyDoubles(Packed& packed) const {
  const uint32_t m = operation_.m, n = operation_.n, k = operation_.k;
  double a[kMostInputs / 2], b[kMostInputs / 2], turned[kMostInputs / 2], sums[kMostSums];
  std::memcpy(a, packed.a, size_t{m} * k * sizeof(double));
  std::memcpy(b, packed.b, size_t{n} * k * sizeof(double));
  std::memcpy(sums, packed.sums, size_t{m} * n * sizeof(double));
  Transpose(b, n, k, turned);
  AddProducts(m, n, k, a, turned, sums);
  std::memcpy(packed.sums, sums, size_t{m} * n * sizeof(double));
}

void MatrixProduct::MultiplyWholes(Packed& packed) const {
  const uint32_t m = operation_.m, n = operation_.n, k = operation_.k;
  // Sums of at most 64 products of bytes, without C, are below 2^24: single precision has them exactly, and is quicker.
  alignas(32) float a[kMostInputs], b[kMostInputs], turned[kMostInputs], sums[kMostSums] = {};
  UnpackWholes(operation_.a, packed.a, size_t{m} * k, a);
  UnpackWholes(operation_.b, packed.b, size_t{n} * k, b);
  Transpose(b, n, k, turned);
  AddProducts(m, n, k, a, turned, sums);
  for (uint32_t i = 0; i < m * n; ++i) {
    const int64_t sum = int64_t{static_cast<int32_t>(packed.sums[i])} + static_cast<int32_t>(sums[i]);
    constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
    packed.sums[i] = static_cast<uint32_t>(operation_.saturates ? std::clamp(sum, kLeast, kMost) : sum);
  }
}

void MatrixProduct::MultiplyBits(Packed& packed) const {
  const uint32_t words = operation_.k / 32u;
  for (uint32_t i = 0; i < operation_.m; ++i) {
    for (uint32_t j = 0; j < operation_.n; ++j) {
      uint32_t ones = 0;
      for (uint32_t w = 0; w < words; ++w) {
        const uint32_t x = packed.a[i * words + w], y = packed.b[j * words + w];
        ones += static_cast<uint32_t>(std::popcount(operation_.bits_by_and ? x & y : x ^ y));
      }
      packed.sums[i * operation_.n + j] += ones;
    }
  }
}

}  // namespace heddle::tracegen
