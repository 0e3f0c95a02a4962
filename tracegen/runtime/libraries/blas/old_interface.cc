// The interface of cublas.h, which has no handles, by that of cublas_api.h, whose functions have symbols of their own
// (cublasSaxpy_v2 ...).
#include <cuda_runtime.h>

#include "cublas.h"
#include "cublas_api.h"
#include "tracegen/runtime/libraries/blas/context.h"

namespace {

cublasHandle_t context = nullptr;
cublasStatus_t error = CUBLAS_STATUS_SUCCESS;

void Keep(cublasStatus_t status) {
  if (error == CUBLAS_STATUS_SUCCESS) error = status;
}

// An unknown letter is no operation, which the functions refuse.
cublasOperation_t Operation(char letter) {
  switch (letter) {
    case 'N':
    case 'n':
      return CUBLAS_OP_N;
    case 'T':
    case 't':
      return CUBLAS_OP_T;
    case 'C':
    case 'c':
      return CUBLAS_OP_C;
    default:
      return static_cast<cublasOperation_t>(-1);
  }
}

}  // namespace

extern "C" {

cublasStatus_t cublasInit(void) { return context != nullptr ? CUBLAS_STATUS_SUCCESS : cublasCreate_v2(&context); }

cublasStatus_t cublasShutdown(void) {
  const cublasStatus_t status = cublasDestroy_v2(context);
  context = nullptr;
  return status;
}

cublasStatus_t cublasGetError(void) {
  const cublasStatus_t status = error;
  error = CUBLAS_STATUS_SUCCESS;
  return status;
}

cublasStatus_t cublasGetVersion(int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetKernelStream(cudaStream_t stream) { return cublasSetStream_v2(context, stream); }

cublasStatus_t cublasAlloc(int n, int element_bytes, void** device) {
  if (n <= 0 || element_bytes <= 0 || device == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const cudaError_t status = cudaMalloc(device, static_cast<size_t>(n) * static_cast<size_t>(element_bytes));
  return status == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasFree(void* device) {
  return cudaFree(device) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INTERNAL_ERROR;
}

void cublasSaxpy(int n, float alpha, const float* x, int incx, float* y, int incy) {
  Keep(cublasSaxpy_v2(context, n, &alpha, x, incx, y, incy));
}
void cublasSscal(int n, float alpha, float* x, int incx) { Keep(cublasSscal_v2(context, n, &alpha, x, incx)); }
void cublasScopy(int n, const float* x, int incx, float* y, int incy) {
  Keep(cublasScopy_v2(context, n, x, incx, y, incy));
}
void cublasSswap(int n, float* x, int incx, float* y, int incy) { Keep(cublasSswap_v2(context, n, x, incx, y, incy)); }
float cublasSdot(int n, const float* x, int incx, const float* y, int incy) {
  float result = 0;
  Keep(cublasSdot_v2(context, n, x, incx, y, incy, &result));
  return result;
}
float cublasSnrm2(int n, const float* x, int incx) {
  float result = 0;
  Keep(cublasSnrm2_v2(context, n, x, incx, &result));
  return result;
}
float cublasSasum(int n, const float* x, int incx) {
  float result = 0;
  Keep(cublasSasum_v2(context, n, x, incx, &result));
  return result;
}
int cublasIsamax(int n, const float* x, int incx) {
  int result = 0;
  Keep(cublasIsamax_v2(context, n, x, incx, &result));
  return result;
}
void cublasSgemv(char trans, int m, int n, float alpha, const float* a, int lda, const float* x, int incx, float beta,
                 float* y, int incy) {
  Keep(cublasSgemv_v2(context, Operation(trans), m, n, &alpha, a, lda, x, incx, &beta, y, incy));
}
void cublasSgemm(char transa, char transb, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                 int ldb, float beta, float* c, int ldc) {
  Keep(cublasSgemm_v2(context, Operation(transa), Operation(transb), m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));
}
void cublasDaxpy(int n, double alpha, const double* x, int incx, double* y, int incy) {
  Keep(cublasDaxpy_v2(context, n, &alpha, x, incx, y, incy));
}
void cublasDscal(int n, double alpha, double* x, int incx) { Keep(cublasDscal_v2(context, n, &alpha, x, incx)); }
void cublasDcopy(int n, const double* x, int incx, double* y, int incy) {
  Keep(cublasDcopy_v2(context, n, x, incx, y, incy));
}
void cublasDswap(int n, double* x, int incx, double* y, int incy) {
  Keep(cublasDswap_v2(context, n, x, incx, y, incy));
}
double cublasDdot(int n, const double* x, int incx, const double* y, int incy) {
  double result = 0;
  Keep(cublasDdot_v2(context, n, x, incx, y, incy, &result));
  return result;
}
double cublasDnrm2(int n, const double* x, int incx) {
  double result = 0;
  Keep(cublasDnrm2_v2(context, n, x, incx, &result));
  return result;
}
double cublasDasum(int n, const double* x, int incx) {
  double result = 0;
  Keep(cublasDasum_v2(context, n, x, incx, &result));
  return result;
}
int cublasIdamax(int n, const double* x, int incx) {
  int result = 0;
  Keep(cublasIdamax_v2(context, n, x, incx, &result));
  return result;
}
void cublasDgemv(char trans, int m, int n, double alpha, const double* a, int lda, const double* x, int incx,
                 double beta, double* y, int incy) {
  Keep(cublasDgemv_v2(context, Operation(trans), m, n, &alpha, a, lda, x, incx, &beta, y, incy));
}
void cublasDgemm(char transa, char transb, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
                 int ldb, double beta, double* c, int ldc) {
  Keep(cublasDgemm_v2(context, Operation(transa), Operation(transb), m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc));
}

}  // extern "C"
