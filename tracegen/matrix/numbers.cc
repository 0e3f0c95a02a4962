#include "tracegen/matrix/numbers.h"

#include <immintrin.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace heddle::tracegen {
namespace {

using Matrix = trace::v1::Matrix;

constexpr uint32_t kTf32Mask = 0xffff'e000;  // sign, 8 bits of exponent, 10 of significand

// 1 bit of sign, 4 of exponent with a bias of 7, 3 of significand; no infinities, and one NaN of each sign.
float FromE4m3(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 3 & 15);
  const auto significand = static_cast<float>(bits & 7);
  const bool is_nan = (bits & 127) == 127;
  const float size = is_nan          ? std::numeric_limits<float>::quiet_NaN()
                     : exponent == 0 ? std::ldexp(significand, -9)
                                     : std::ldexp(8 + significand, exponent - 10);
  return std::copysign(size, (bits & 128) != 0 ? -1.0f : 1.0f);
}

const std::array<float, 256>& E4m3Numbers() {
  static const auto& numbers = *[] {
    auto* all = new std::array<float, 256>();
    for (uint32_t bits = 0; bits < 256; ++bits) (*all)[bits] = FromE4m3(bits);
    return all;
  }();
  return numbers;
}

void UnpackHalves(const uint16_t* packed, size_t count, float* numbers) {
  for (size_t i = 0; i < count; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(packed + i));
    _mm256_storeu_ps(numbers + i, _mm256_cvtph_ps(halves));
  }
}

template <typename T>
void TransposeNumbers(const T* from, uint32_t rows, uint32_t columns, T* to) {
  for (uint32_t i = 0; i < rows; ++i) {
    for (uint32_t j = 0; j < columns; ++j) {
      // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): callers have unpacked rows * columns of them
      to[j * rows + i] = from[i * columns + j];
    }
  }
}

}  // namespace

void Transpose(const float* from, uint32_t rows, uint32_t columns, float* to) {
  TransposeNumbers(from, rows, columns, to);
}
void Transpose(const double* from, uint32_t rows, uint32_t columns, double* to) {
  TransposeNumbers(from, rows, columns, to);
}

void UnpackSingles(MatrixOperation::Type type, const uint32_t* packed, size_t count, float* numbers) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(packed);
  const auto* halves = reinterpret_cast<const uint16_t*>(packed);
  switch (type) {
    case Matrix::F16:
      UnpackHalves(halves, count, numbers);
      return;
    case Matrix::BF16:
      for (size_t i = 0; i < count; ++i) numbers[i] = std::bit_cast<float>(uint32_t{halves[i]} << 16);
      return;
    case Matrix::TF32:
      for (size_t i = 0; i < count; ++i) numbers[i] = std::bit_cast<float>(packed[i] & kTf32Mask);
      return;
    case Matrix::E4M3:
      for (size_t i = 0; i < count; ++i) numbers[i] = E4m3Numbers()[bytes[i]];
      return;
    case Matrix::E5M2:
      // The upper half of a number in half precision.
      for (size_t i = 0; i < count; i += 8) {
        uint16_t wide[8];
        for (size_t j = 0; j < 8; ++j) wide[j] = static_cast<uint16_t>(bytes[i + j] << 8);
        UnpackHalves(wide, 8, numbers + i);
      }
      return;
    default:
      std::memcpy(numbers, packed, count * sizeof(float));
      return;
  }
}

void PackSingles(MatrixOperation::Type type, const float* numbers, size_t count, uint32_t* packed) {
  if (type != Matrix::F16) {
    std::memcpy(packed, numbers, count * sizeof(float));
    return;
  }
  for (size_t i = 0; i < count; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(numbers + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(packed + i / 2), halves);
  }
}

void UnpackWholes(MatrixOperation::Type type, const uint32_t* packed, size_t count, float* numbers) {
  if (type == Matrix::S8) {
    const auto* bytes = reinterpret_cast<const int8_t*>(packed);
    for (size_t i = 0; i < count; ++i) numbers[i] = bytes[i];
  } else if (type == Matrix::U8) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(packed);
    for (size_t i = 0; i < count; ++i) numbers[i] = bytes[i];
  } else {
    const int sign = type == Matrix::S4 ? 8 : 0;
    for (size_t i = 0; i < count; ++i) {
      const auto nibble = static_cast<int>(packed[i / 8] >> 4 * (i % 8) & 15);
      numbers[i] = static_cast<float>((nibble ^ sign) - sign);
    }
  }
}

}  // namespace heddle::tracegen
