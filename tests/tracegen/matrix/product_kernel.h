// A PTX kernel of matrix products, and what it must compute.
#ifndef HEDDLE_TESTS_TRACEGEN_MATRIX_PRODUCT_KERNEL_H_
#define HEDDLE_TESTS_TRACEGEN_MATRIX_PRODUCT_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/tracegen/matrix/scalar_model.h"

namespace heddle::tracegen {

// The registers of one operand in PTX: the letter of their names, and how many there are.
struct OperandList {
  char letter = 'r';
  uint32_t count = 0;
};
OperandList ListOf(const std::string& type, uint32_t words);

// `.visible .entry k(.param .u64 in, .param .u64 out)` for one warp, which makes each product once. Form by form, and
// in it lane by lane, there are words to read and words to write. `header`: of the module.
std::string ProductKernel(const std::string& header, const std::vector<ProductForm>& forms);

}  // namespace heddle::tracegen

#endif  // HEDDLE_TESTS_TRACEGEN_MATRIX_PRODUCT_KERNEL_H_
