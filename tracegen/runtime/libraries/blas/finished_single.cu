// Products of matrices of type float that cublasLt finishes.
#include "tracegen/runtime/libraries/blas/gemm.cuh"

namespace heddle::libraries {

template <>
cublasStatus_t MultiplyAndFinish<float, float>(const Product& product) {
  return LaunchProduct<float, float>(product, DoFinish{product.finish});
}

}  // namespace heddle::libraries
