// Matrix products one element at a time, with the layouts as the figures of the PTX manual give them: what tests
// compare with.
#ifndef HEDDLE_TESTS_TRACEGEN_MATRIX_SCALAR_MODEL_H_
#define HEDDLE_TESTS_TRACEGEN_MATRIX_SCALAR_MODEL_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace heddle::tracegen {

// One form of `mma`.
struct ProductForm {
  std::string mnemonic;
  uint32_t m = 0, n = 0, k = 0;
  std::string a, b, c, d;  // types, as the mnemonic has them
  bool a_by_columns = false, b_by_columns = true;
  bool saturates = false, bits_by_and = false;
};

// Every form that is executed.
std::vector<ProductForm> AllProductForms();

// Words of each lane: registers of A, B and C, one behind the other; registers of 64 bits as two words.
using LaneWords = std::vector<std::vector<uint32_t>>;

// Random operands. Numbers are moderate, with some zeros, denormals and extremes.
LaneWords RandomOperands(const ProductForm& form, std::mt19937& random);

// Random whole numbers of small size: their sums are exact in whatever order they are made.
LaneWords WholeOperands(const ProductForm& form, std::mt19937& random);

// The words of D.
LaneWords ScalarProduct(const ProductForm& form, const LaneWords& operands);

// Numbers of words of each lane for A, B, C and D.
struct WordCounts {
  uint32_t a = 0, b = 0, c = 0, d = 0;
};
WordCounts CountWords(const ProductForm& form);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_MATRIX_SCALAR_MODEL_H_
