// Products of matrices of type float.
#include "tracegen/runtime/libraries/blas/gemm.cuh"

namespace heddle::libraries {

template <>
cublasStatus_t Multiply<float, float>(const Product& product) {
  return LaunchProduct<float, float>(product, NoFinish());
}

}  // namespace heddle::libraries
