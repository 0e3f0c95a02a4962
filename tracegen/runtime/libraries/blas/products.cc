// cuBLAS's products of matrices: what callers hand in, as a Product.
#include "cublas_api.h"
#include "tracegen/runtime/libraries/blas/gemm.h"

namespace heddle::libraries {
namespace {

bool Known(cublasOperation_t operation) { return operation >= CUBLAS_OP_N && operation <= CUBLAS_OP_C; }

// What all calls hand in alike. Operands lack their addresses.
Product Common(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
               const void* alpha, int lda, int ldb, const void* beta, int ldc, int batches) {
  Product product;
  product.m = m;
  product.n = n;
  product.k = k;
  product.batches = batches;
  product.alpha = alpha;
  product.beta = beta;
  product.mode = handle->pointer_mode;
  product.stream = handle->stream;
  product.a.ld = lda;
  product.a.transposed = transa != CUBLAS_OP_N;
  product.b.ld = ldb;
  product.b.transposed = transb != CUBLAS_OP_N;
  product.c.ld = ldc;
  return product;
}

void SetStrided(Product& product, const void* a, int64_t stride_a, const void* b, int64_t stride_b, void* c,
                int64_t stride_c) {
  product.a.data = a;
  product.a.stride = stride_a;
  product.b.data = b;
  product.b.stride = stride_b;
  product.c.data = c;
  product.c.stride = stride_c;
  product.d = product.c;
}

void SetEach(Product& product, const void* const* a, const void* const* b, void* const* c) {
  product.a.each = a;
  product.b.each = b;
  product.c.each = c;
  product.d = product.c;
}

// Whether sums of `compute` are what Multiply makes for `out`; sets the type of the scalars. Sums that may be of lower
// precision are of single precision here.
bool Computes(cublasComputeType_t compute, cudaDataType out, Product& product) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      product.half_scalars = true;
      return out == CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return out == CUDA_R_64F;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
      return out != CUDA_R_64F;
    default:
      return false;
  }
}

cublasStatus_t MultiplyNamed(cudaDataType type_a, cudaDataType type_b, cudaDataType type_c, cublasComputeType_t compute,
                             Product& product) {
  if (type_a != type_b || !Computes(compute, type_c, product)) return CUBLAS_STATUS_NOT_SUPPORTED;
  return MultiplyTypes(type_a, type_c, product);
}

}  // namespace

cublasStatus_t MultiplyTypes(cudaDataType in, cudaDataType out, const Product& product) {
  if (in == CUDA_R_32F && out == CUDA_R_32F) return Multiply<float, float>(product);
  if (in == CUDA_R_64F && out == CUDA_R_64F) return Multiply<double, double>(product);
  if (in == CUDA_R_16F && out == CUDA_R_16F) return Multiply<__half, __half>(product);
  if (in == CUDA_R_16F && out == CUDA_R_32F) return Multiply<__half, float>(product);
  if (in == CUDA_R_16BF && out == CUDA_R_16BF) return Multiply<__nv_bfloat16, __nv_bfloat16>(product);
  if (in == CUDA_R_16BF && out == CUDA_R_32F) return Multiply<__nv_bfloat16, float>(product);
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace heddle::libraries

using heddle::libraries::Common;
using heddle::libraries::Known;
using heddle::libraries::Multiply;
using heddle::libraries::Product;
using heddle::libraries::SetEach;
using heddle::libraries::SetStrided;
using heddle::libraries::StandIn;

#define HEDDLE_CHECK_PRODUCT(name)                                          \
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;              \
  if (!Known(transa) || !Known(transb)) return CUBLAS_STATUS_INVALID_VALUE; \
  const StandIn stand_in(name)

extern "C" {

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                              const float* beta, float* c, int ldc) {
  HEDDLE_CHECK_PRODUCT("cublasSgemm");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, 1);
  SetStrided(product, a, 0, b, 0, c, 0);
  return Multiply<float, float>(product);
}

cublasStatus_t cublasSgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const float* alpha, const float* const a[], int lda,
                                  const float* const b[], int ldb, const float* beta, float* const c[], int ldc,
                                  int batches) {
  HEDDLE_CHECK_PRODUCT("cublasSgemmBatched");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, batches);
  SetEach(product, reinterpret_cast<const void* const*>(a), reinterpret_cast<const void* const*>(b),
          reinterpret_cast<void* const*>(c));
  return Multiply<float, float>(product);
}

cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const float* alpha, const float* a, int lda,
                                         long long int stride_a, const float* b, int ldb, long long int stride_b,
                                         const float* beta, float* c, int ldc, long long int stride_c, int batches) {
  HEDDLE_CHECK_PRODUCT("cublasSgemmStridedBatched");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, batches);
  SetStrided(product, a, stride_a, b, stride_b, c, stride_c);
  return Multiply<float, float>(product);
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const double* alpha, const double* a, int lda, const double* b, int ldb,
                              const double* beta, double* c, int ldc) {
  HEDDLE_CHECK_PRODUCT("cublasDgemm");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, 1);
  SetStrided(product, a, 0, b, 0, c, 0);
  return Multiply<double, double>(product);
}

cublasStatus_t cublasDgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const double* alpha, const double* const a[], int lda,
                                  const double* const b[], int ldb, const double* beta, double* const c[], int ldc,
                                  int batches) {
  HEDDLE_CHECK_PRODUCT("cublasDgemmBatched");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, batches);
  SetEach(product, reinterpret_cast<const void* const*>(a), reinterpret_cast<const void* const*>(b),
          reinterpret_cast<void* const*>(c));
  return Multiply<double, double>(product);
}

cublasStatus_t cublasDgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const double* alpha, const double* a, int lda,
                                         long long int stride_a, const double* b, int ldb, long long int stride_b,
                                         const double* beta, double* c, int ldc, long long int stride_c, int batches) {
  HEDDLE_CHECK_PRODUCT("cublasDgemmStridedBatched");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, batches);
  SetStrided(product, a, stride_a, b, stride_b, c, stride_c);
  return Multiply<double, double>(product);
}

cublasStatus_t cublasHgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const __half* alpha, const __half* a, int lda, const __half* b, int ldb,
                           const __half* beta, __half* c, int ldc) {
  HEDDLE_CHECK_PRODUCT("cublasHgemm");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, 1);
  product.half_scalars = true;
  SetStrided(product, a, 0, b, 0, c, 0);
  return Multiply<__half, __half>(product);
}

cublasStatus_t cublasHgemmBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                  int n, int k, const __half* alpha, const __half* const a[], int lda,
                                  const __half* const b[], int ldb, const __half* beta, __half* const c[], int ldc,
                                  int batches) {
  HEDDLE_CHECK_PRODUCT("cublasHgemmBatched");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, batches);
  product.half_scalars = true;
  SetEach(product, reinterpret_cast<const void* const*>(a), reinterpret_cast<const void* const*>(b),
          reinterpret_cast<void* const*>(c));
  return Multiply<__half, __half>(product);
}

cublasStatus_t cublasHgemmStridedBatched(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                         int m, int n, int k, const __half* alpha, const __half* a, int lda,
                                         long long int stride_a, const __half* b, int ldb, long long int stride_b,
                                         const __half* beta, __half* c, int ldc, long long int stride_c, int batches) {
  HEDDLE_CHECK_PRODUCT("cublasHgemmStridedBatched");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, batches);
  product.half_scalars = true;
  SetStrided(product, a, stride_a, b, stride_b, c, stride_c);
  return Multiply<__half, __half>(product);
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
  HEDDLE_CHECK_PRODUCT("cublasGemmEx");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, 1);
  SetStrided(product, a, 0, b, 0, c, 0);
  return heddle::libraries::MultiplyNamed(type_a, type_b, type_c, compute, product);
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* const a[], cudaDataType type_a, int lda,
                                   const void* const b[], cudaDataType type_b, int ldb, const void* beta,
                                   void* const c[], cudaDataType type_c, int ldc, int batches,
                                   cublasComputeType_t compute, cublasGemmAlgo_t) {
  HEDDLE_CHECK_PRODUCT("cublasGemmBatchedEx");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, batches);
  SetEach(product, a, b, c);
  return heddle::libraries::MultiplyNamed(type_a, type_b, type_c, compute, product);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb,
                                          int m, int n, int k, const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long int stride_a, const void* b, cudaDataType type_b, int ldb,
                                          long long int stride_b, const void* beta, void* c, cudaDataType type_c,
                                          int ldc, long long int stride_c, int batches, cublasComputeType_t compute,
                                          cublasGemmAlgo_t) {
  HEDDLE_CHECK_PRODUCT("cublasGemmStridedBatchedEx");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, batches);
  SetStrided(product, a, stride_a, b, stride_b, c, stride_c);
  return heddle::libraries::MultiplyNamed(type_a, type_b, type_c, compute, product);
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                             int k, const float* alpha, const void* a, cudaDataType type_a, int lda, const void* b,
                             cudaDataType type_b, int ldb, const float* beta, void* c, cudaDataType type_c, int ldc) {
  HEDDLE_CHECK_PRODUCT("cublasSgemmEx");
  Product product = Common(handle, transa, transb, m, n, k, alpha, lda, ldb, beta, ldc, 1);
  SetStrided(product, a, 0, b, 0, c, 0);
  return heddle::libraries::MultiplyNamed(type_a, type_b, type_c, CUBLAS_COMPUTE_32F, product);
}

}  // extern "C"
