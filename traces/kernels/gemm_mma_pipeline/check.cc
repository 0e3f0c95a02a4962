// The product of the numbers that the matrices were made of, as multiples of 1/64.
#include "../check_product.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  // Products are exact. Tensor cores may cut off what single precision has no room for, instead of rounding it.
  return heddle::kernels::CheckProduct(check, check.Find<int8_t>("left_values"), check.Find<int8_t>("right_values"),
                                       1.0 / 64, 0x1p-23);
}
