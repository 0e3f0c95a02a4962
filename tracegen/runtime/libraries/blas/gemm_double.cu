// Products of matrices of type double.
#include "tracegen/runtime/libraries/blas/gemm.cuh"

namespace heddle::libraries {

template <>
cublasStatus_t Multiply<double, double>(const Product& product) {
  return LaunchProduct<double, double>(product, NoFinish());
}

}  // namespace heddle::libraries
