// The gradient of a bias, which cublasLt computes beside a product.
#ifndef HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_BIAS_GRADIENT_H_
#define HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_BIAS_GRADIENT_H_

#include "tracegen/runtime/libraries/blas/gemm.h"

namespace heddle::libraries {

// Sums of op(A) over its columns (`of_a`; one a row), or of op(B) over its rows (one a column), of the first product of
// the batch. They are of type float, or of `type`.
cublasStatus_t SumOverDepth(cudaDataType type, const Product& product, bool of_a, bool float_sums, void* sums);

}  // namespace heddle::libraries

#endif  // HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_BIAS_GRADIENT_H_
