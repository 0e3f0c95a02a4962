// cuBLAS's products of a matrix and a vector.
#include "cublas_api.h"
#include "tracegen/runtime/libraries/blas/scalar.cuh"

namespace heddle::libraries {
namespace {

constexpr int kThreads = 128, kWarp = 32;

template <typename T>
struct MatrixVector {
  int rows, columns;  // of A as it is stored
  const T* a;
  int64_t lda;
  const T* x;
  int64_t incx;
  T* y;
  int64_t incy;
  Scalar<T> alpha, beta;

  __device__ void Store(int i, T sum) const {
    const T factor = beta.Get();
    T value = alpha.Get() * sum;
    if (factor != 0) value += factor * y[i * incy];
    y[i * incy] = value;
  }
};

// y = A x: a thread per row, so that the threads of a warp read neighbours.
template <typename T>
__global__ void TimesColumns(MatrixVector<T> p) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= p.rows) return;
  T sum = 0;
  for (int64_t j = 0; j < p.columns; ++j) sum += p.a[row + j * p.lda] * p.x[j * p.incx];
  p.Store(row, sum);
}

// y = A^T x: a warp per column of A.
template <typename T>
__global__ void TimesRows(MatrixVector<T> p) {
  const int column = (blockIdx.x * blockDim.x + threadIdx.x) / kWarp;
  const int lane = threadIdx.x % kWarp;
  if (column >= p.columns) return;
  T sum = 0;
  for (int64_t i = lane; i < p.rows; i += kWarp) sum += p.a[i + column * p.lda] * p.x[i * p.incx];
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (lane == 0) p.Store(column, sum);
}

template <typename T>
cublasStatus_t Run(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T* alpha, const T* a, int lda,
                   const T* x, int incx, const T* beta, T* y, int incy) {
  if (trans < CUBLAS_OP_N || trans > CUBLAS_OP_C || m < 0 || n < 0 || lda < max(1, m) || incx == 0 || incy == 0 ||
      alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool transposed = trans != CUBLAS_OP_N;
  const int outputs = transposed ? n : m, inputs = transposed ? m : n;
  if (outputs == 0) return CUBLAS_STATUS_SUCCESS;
  MatrixVector<T> p = {m, n, a, lda, x, incx, y, incy};
  if (incx < 0) p.x -= int64_t{inputs - 1} * incx;
  if (incy < 0) p.y -= int64_t{outputs - 1} * incy;
  p.alpha = MakeScalar<T>(handle->pointer_mode, alpha);
  p.beta = MakeScalar<T>(handle->pointer_mode, beta);
  const int64_t threads = int64_t{outputs} * (transposed ? kWarp : 1);
  const auto blocks = static_cast<unsigned>((threads + kThreads - 1) / kThreads);
  if (transposed) {
    TimesRows<<<blocks, kThreads, 0, handle->stream>>>(p);
  } else {
    TimesColumns<<<blocks, kThreads, 0, handle->stream>>>(p);
  }
  return Launched();
}

}  // namespace
}  // namespace heddle::libraries

extern "C" {

cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const float* alpha,
                              const float* a, int lda, const float* x, int incx, const float* beta, float* y,
                              int incy) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const heddle::libraries::StandIn stand_in("cublasSgemv");
  return heddle::libraries::Run(handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

cublasStatus_t cublasDgemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const double* alpha,
                              const double* a, int lda, const double* x, int incx, const double* beta, double* y,
                              int incy) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const heddle::libraries::StandIn stand_in("cublasDgemv");
  return heddle::libraries::Run(handle, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

}  // extern "C"
