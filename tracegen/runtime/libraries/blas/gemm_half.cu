// Products of matrices of type half.
#include "tracegen/runtime/libraries/blas/gemm.cuh"

namespace heddle::libraries {

template <>
cublasStatus_t Multiply<__half, __half>(const Product& product) {
  return LaunchProduct<__half, __half>(product, NoFinish());
}

template <>
cublasStatus_t Multiply<__half, float>(const Product& product) {
  return LaunchProduct<__half, float>(product, NoFinish());
}

}  // namespace heddle::libraries
