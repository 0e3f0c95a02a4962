// Products of matrices of type bfloat16 that cublasLt finishes.
#include "tracegen/runtime/libraries/blas/gemm.cuh"

namespace heddle::libraries {

template <>
cublasStatus_t MultiplyAndFinish<__nv_bfloat16, __nv_bfloat16>(const Product& product) {
  return LaunchProduct<__nv_bfloat16, __nv_bfloat16>(product, DoFinish{product.finish});
}

}  // namespace heddle::libraries
