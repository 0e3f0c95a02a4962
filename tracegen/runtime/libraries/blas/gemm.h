// Products of matrices, whatever the types: D = finish(alpha * op(A) * op(B) + beta * C). Column-major.
#ifndef HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_GEMM_H_
#define HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_GEMM_H_

#include "tracegen/runtime/libraries/blas/context.h"

struct __nv_bfloat16;  // host compilers do not know it

namespace heddle::libraries {

// One operand of all products of a batch.
struct Operand {
  const void* data = nullptr;
  const void* const* each = nullptr;  // if not null, an array on the device with the address of each
  int64_t stride = 0;                 // from one to the next, in elements, if `each` is null
  int64_t ld = 0;
  bool transposed = false;
};

// What cublasLt does with a product on its way to D. Values are alpha * AB + beta * C, at (row, column).
struct Finish {
  enum Gelu { kNone, kGelu, kGeluGradient };
  const void* bias = nullptr;  // one value a row, added; null = none
  bool bias_is_float = false;  // else it is of D's type
  int gelu = kNone;
  void* aux = nullptr;  // of D's type. kGelu: gets what goes into GELU, if not null. kGeluGradient: has that
  int64_t aux_ld = 0;
  int64_t aux_stride = 0;  // from one product of a batch to the next
};

struct Product {
  int m = 0, n = 0, k = 0;
  int batches = 1;
  Operand a, b;
  Operand c, d;  // the same unless the caller is cublasLt
  const void* alpha = nullptr;
  const void* beta = nullptr;
  cublasPointerMode_t mode = CUBLAS_POINTER_MODE_HOST;
  bool half_scalars = false;  // alpha and beta are of type half; else of the type of the sums
  cudaStream_t stream = nullptr;
  Finish finish;
};

// Checks the sizes and launches the kernels. A and B are of type In, C and D of type Out; sums are double for double
// and float for all else.
template <typename In, typename Out>
cublasStatus_t Multiply(const Product& product);
// Likewise, with product.finish, which the other leaves away.
template <typename In, typename Out>
cublasStatus_t MultiplyAndFinish(const Product& product);

// Multiply for types by name. CUBLAS_STATUS_NOT_SUPPORTED: there is none.
cublasStatus_t MultiplyTypes(cudaDataType in, cudaDataType out, const Product& product);

}  // namespace heddle::libraries

#endif  // HEDDLE_TRACEGEN_RUNTIME_LIBRARIES_BLAS_GEMM_H_
