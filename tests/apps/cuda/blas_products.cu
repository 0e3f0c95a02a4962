// nvcc: -lcublas
// marked: stand-ins for cublas
// Products of matrices by cuBLAS: types, transposes, leading dimensions, batches, scalars on either side, refusals;
// each compared with loops on the host.
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <vector>

#include "check.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

static float Host(float x) { return x; }
static double Host(double x) { return x; }
static float Host(__half x) { return __half2float(x); }
static float Host(__nv_bfloat16 x) { return __bfloat162float(x); }
static void Set(float* x, double value) { *x = (float)value; }
static void Set(double* x, double value) { *x = value; }
static void Set(__half* x, double value) { *x = __float2half((float)value); }
static void Set(__nv_bfloat16* x, double value) { *x = __float2bfloat16((float)value); }

// Small multiples of 1/8, which all types hold.
static double Some(unsigned i) { return (int)((i * 2654435761u >> 20) % 33) / 8.0 - 2.0; }

template <typename T>
struct Matrix {
  std::vector<T> host;
  T* device = nullptr;

  Matrix(size_t elements, unsigned seed) : host(elements) {
    for (size_t i = 0; i < elements; ++i) Set(&host[i], Some(seed + (unsigned)i));
    CALL(cudaMalloc(&device, elements * sizeof(T)));
    CALL(cudaMemcpy(device, host.data(), elements * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Matrix() { cudaFree(device); }
  std::vector<T> Back() const {
    std::vector<T> back(host.size());
    CALL(cudaMemcpy(back.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return back;
  }
};

struct Sizes {
  int m, n, k;
  bool ta, tb;
  int lda, ldb, ldc;
  double alpha, beta;
};

static size_t ElementsA(const Sizes& s) { return (size_t)s.lda * (s.ta ? s.m : s.k); }
static size_t ElementsB(const Sizes& s) { return (size_t)s.ldb * (s.tb ? s.k : s.n); }
static size_t ElementsC(const Sizes& s) { return (size_t)s.ldc * s.n; }

// What C has to be, and what must not have changed between its columns.
template <typename In, typename Out>
static void Compare(const Sizes& s, const In* a, const In* b, const Out* c, const Out* got, double tolerance) {
  for (int j = 0; j < s.n; ++j) {
    for (int i = 0; i < s.ldc; ++i) {
      if (i >= s.m) {
        EXPECT(Host(got[i + j * s.ldc]) == Host(c[i + j * s.ldc]));
        continue;
      }
      double sum = 0;
      for (int k = 0; k < s.k; ++k) {
        sum += (double)Host(a[s.ta ? k + i * s.lda : i + k * s.lda]) * Host(b[s.tb ? j + k * s.ldb : k + j * s.ldb]);
      }
      double want = s.alpha * sum;
      if (s.beta != 0) want += s.beta * Host(c[i + j * s.ldc]);
      EXPECT_NEAR(Host(got[i + j * s.ldc]), want, tolerance * (1 + fabs(want)));
    }
  }
}

static cublasOperation_t Op(bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

template <typename In, typename Out, typename Call>
static void Try(const Sizes& s, double tolerance, Call call) {
  Matrix<In> a(ElementsA(s), 1), b(ElementsB(s), 77);
  Matrix<Out> c(ElementsC(s), 5);
  if (s.beta == 0) {  // is not read
    for (Out& x : c.host) Set(&x, NAN);
    for (int j = 0; j < s.n; ++j) {
      for (int i = s.m; i < s.ldc; ++i) Set(&c.host[i + j * s.ldc], 3);
    }
    CALL(cudaMemcpy(c.device, c.host.data(), c.host.size() * sizeof(Out), cudaMemcpyHostToDevice));
  }
  BLAS(call(a.device, b.device, c.device));
  const std::vector<Out> got = c.Back();
  Compare(s, a.host.data(), b.host.data(), c.host.data(), got.data(), tolerance);
}

static void Everything(cublasHandle_t handle, const Sizes& s) {
  const float alpha = (float)s.alpha, beta = (float)s.beta;
  Try<float, float>(s, 1e-5, [&](float* a, float* b, float* c) {
    return cublasSgemm(handle, Op(s.ta), Op(s.tb), s.m, s.n, s.k, &alpha, a, s.lda, b, s.ldb, &beta, c, s.ldc);
  });
  Try<double, double>(s, 1e-13, [&](double* a, double* b, double* c) {
    return cublasDgemm(handle, Op(s.ta), Op(s.tb), s.m, s.n, s.k, &s.alpha, a, s.lda, b, s.ldb, &s.beta, c, s.ldc);
  });
  const __half half_alpha = __float2half(alpha), half_beta = __float2half(beta);
  Try<__half, __half>(s, 2e-3, [&](__half* a, __half* b, __half* c) {
    return cublasHgemm(handle, Op(s.ta), Op(s.tb), s.m, s.n, s.k, &half_alpha, a, s.lda, b, s.ldb, &half_beta, c,
                       s.ldc);
  });
  Try<__half, float>(s, 1e-5, [&](__half* a, __half* b, float* c) {
    return cublasGemmEx(handle, Op(s.ta), Op(s.tb), s.m, s.n, s.k, &alpha, a, CUDA_R_16F, s.lda, b, CUDA_R_16F, s.ldb,
                        &beta, c, CUDA_R_32F, s.ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
  });
  Try<__nv_bfloat16, __nv_bfloat16>(s, 2e-2, [&](__nv_bfloat16* a, __nv_bfloat16* b, __nv_bfloat16* c) {
    return cublasGemmEx(handle, Op(s.ta), Op(s.tb), s.m, s.n, s.k, &alpha, a, CUDA_R_16BF, s.lda, b, CUDA_R_16BF, s.ldb,
                        &beta, c, CUDA_R_16BF, s.ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT_TENSOR_OP);
  });
}

static void Batches(cublasHandle_t handle, const Sizes& s, int batches) {
  const float alpha = (float)s.alpha, beta = (float)s.beta;
  Matrix<float> a(ElementsA(s) * batches, 9), b(ElementsB(s) * batches, 3), c(ElementsC(s) * batches, 2);
  BLAS(cublasSgemmStridedBatched(handle, Op(s.ta), Op(s.tb), s.m, s.n, s.k, &alpha, a.device, s.lda, ElementsA(s),
                                 b.device, s.ldb, ElementsB(s), &beta, c.device, s.ldc, ElementsC(s), batches));
  std::vector<float> got = c.Back();
  for (int i = 0; i < batches; ++i) {
    Compare(s, &a.host[i * ElementsA(s)], &b.host[i * ElementsB(s)], &c.host[i * ElementsC(s)], &got[i * ElementsC(s)],
            1e-5);
  }
  // The same by addresses, in the opposite order, from what C is now.
  std::vector<float*> host(3 * batches);
  for (int i = 0; i < batches; ++i) {
    host[i] = a.device + (batches - 1 - i) * ElementsA(s);
    host[batches + i] = b.device + (batches - 1 - i) * ElementsB(s);
    host[2 * batches + i] = c.device + (batches - 1 - i) * ElementsC(s);
  }
  float** device;
  CALL(cudaMalloc(&device, host.size() * sizeof(float*)));
  CALL(cudaMemcpy(device, host.data(), host.size() * sizeof(float*), cudaMemcpyHostToDevice));
  const std::vector<float> before = got;
  BLAS(cublasSgemmBatched(handle, Op(s.ta), Op(s.tb), s.m, s.n, s.k, &alpha, device, s.lda, device + batches, s.ldb,
                          &beta, device + 2 * batches, s.ldc, batches));
  got = c.Back();
  for (int i = 0; i < batches; ++i) {
    Compare(s, &a.host[i * ElementsA(s)], &b.host[i * ElementsB(s)], &before[i * ElementsC(s)], &got[i * ElementsC(s)],
            1e-5);
  }
  cudaFree(device);
}

// Scalars on the device; a stream of its own.
static void ScalarsOnDevice(cublasHandle_t handle) {
  const Sizes s = {70, 33, 20, false, true, 70, 33, 71, 1.5, -0.5};
  Matrix<float> scalars(2, 0);
  scalars.host = {1.5f, -0.5f};
  CALL(cudaMemcpy(scalars.device, scalars.host.data(), 8, cudaMemcpyHostToDevice));
  cudaStream_t stream, told;
  CALL(cudaStreamCreate(&stream));
  BLAS(cublasSetStream(handle, stream));
  BLAS(cublasGetStream(handle, &told));
  EXPECT(told == stream);
  BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  Try<float, float>(s, 1e-5, [&](float* a, float* b, float* c) {
    const cublasStatus_t status = cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, s.m, s.n, s.k, scalars.device, a, s.lda,
                                              b, s.ldb, scalars.device + 1, c, s.ldc);
    CALL(cudaStreamSynchronize(stream));
    return status;
  });
  BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  BLAS(cublasSetStream(handle, 0));
  CALL(cudaStreamDestroy(stream));
}

static void Refusals(cublasHandle_t handle) {
  const float one = 1;
  float* some;
  CALL(cudaMalloc(&some, 4096));
  const auto gemm = [&](cublasHandle_t with, cublasOperation_t op, int m, int lda, int ldc) {
    return cublasSgemm(with, op, CUBLAS_OP_N, m, 8, 8, &one, some, lda, some, 8, &one, some, ldc);
  };
  EXPECT(gemm(nullptr, CUBLAS_OP_N, 8, 8, 8) == CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT(gemm(handle, CUBLAS_OP_N, -1, 8, 8) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(gemm(handle, CUBLAS_OP_N, 8, 7, 8) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(gemm(handle, CUBLAS_OP_N, 8, 8, 7) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(gemm(handle, (cublasOperation_t)7, 8, 8, 8) == CUBLAS_STATUS_INVALID_VALUE);
  EXPECT(gemm(handle, CUBLAS_OP_N, 0, 8, 8) == CUBLAS_STATUS_SUCCESS);
  EXPECT(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, some, CUDA_R_8I, 8, some, CUDA_R_8I, 8, &one,
                      some, CUDA_R_32I, 8, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED)[0] == 'C');
  cudaFree(some);
}

int main() {
  cublasHandle_t handle;
  BLAS(cublasCreate(&handle));
  int version = 0;
  BLAS(cublasGetVersion(handle, &version));
  EXPECT(version == CUBLAS_VERSION);
  BLAS(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
  const Sizes sizes[] = {
      {5, 7, 9, false, false, 5, 9, 5, 1, 0},       {5, 7, 9, true, false, 11, 10, 6, 2, 1},
      {40, 70, 33, false, true, 41, 70, 40, 1, 0},  {65, 130, 17, true, true, 19, 131, 66, 0.5, 2},
      {64, 64, 16, false, false, 64, 16, 64, 1, 1}, {100, 3, 50, true, false, 50, 50, 100, 0, 0.5},
      {33, 34, 0, false, false, 33, 1, 33, 1, 2},
  };
  for (const Sizes& s : sizes) Everything(handle, s);
  Batches(handle, {20, 10, 12, true, false, 12, 13, 20, 1, 0.5}, 4);
  Batches(handle, {50, 70, 12, false, true, 50, 70, 51, -1, 0}, 3);
  ScalarsOnDevice(handle);
  Refusals(handle);
  BLAS(cublasDestroy(handle));
  return Finish();
}
