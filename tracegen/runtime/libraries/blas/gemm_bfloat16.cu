// Products of matrices of type bfloat16.
#include "tracegen/runtime/libraries/blas/gemm.cuh"

namespace heddle::libraries {

template <>
cublasStatus_t Multiply<__nv_bfloat16, __nv_bfloat16>(const Product& product) {
  return LaunchProduct<__nv_bfloat16, __nv_bfloat16>(product, NoFinish());
}

template <>
cublasStatus_t Multiply<__nv_bfloat16, float>(const Product& product) {
  return LaunchProduct<__nv_bfloat16, float>(product, NoFinish());
}

}  // namespace heddle::libraries
