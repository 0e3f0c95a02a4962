// The textbook product in double precision. The shape is in the buffer `shape`: rows, inner, columns.
#include "../check_product.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  // A sum of n rounded terms is off by at most about n * 2^-24 of the sum of magnitudes.
  return heddle::kernels::CheckProduct(check, check.Find<float>("left"), check.Find<float>("right"), 1, 6e-8);
}
