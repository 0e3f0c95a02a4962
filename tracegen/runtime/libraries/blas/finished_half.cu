// Products of matrices of type half that cublasLt finishes.
#include "tracegen/runtime/libraries/blas/gemm.cuh"

namespace heddle::libraries {

template <>
cublasStatus_t MultiplyAndFinish<__half, __half>(const Product& product) {
  return LaunchProduct<__half, __half>(product, DoFinish{product.finish});
}

}  // namespace heddle::libraries
