// nvcc: -lcublasLt -lcublas
// replay: --set core.registers=65536
// marked: stand-ins for cublasLtMatmul
// Products by cublasLt: layouts, batches, all epilogues that there are, and refusals.
#include <cublasLt.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <vector>

#include "check.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

static double Some(int i) { return (double)((unsigned)i * 2654435761u >> 11 & 63) / 32 - 1; }
static float Host(float x) { return x; }
static float Host(__half x) { return __half2float(x); }
static float Host(__nv_bfloat16 x) { return __bfloat162float(x); }
static void Set(float* x, double value) { *x = (float)value; }
static void Set(__half* x, double value) { *x = __float2half((float)value); }
static void Set(__nv_bfloat16* x, double value) { *x = __float2bfloat16((float)value); }
static cudaDataType TypeOf(float) { return CUDA_R_32F; }
static cudaDataType TypeOf(__half) { return CUDA_R_16F; }
static cudaDataType TypeOf(__nv_bfloat16) { return CUDA_R_16BF; }

template <typename T>
static T* Managed(int count, int seed) {
  T* x;
  CALL(cudaMallocManaged(&x, count * sizeof(T)));
  for (int i = 0; i < count; ++i) Set(&x[i], Some(seed + i));
  return x;
}

static double Gelu(double x) { return 0.5 * x * (1 + tanh(sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x))); }
static double GeluSlope(double x) { return (Gelu(x + 1e-4) - Gelu(x - 1e-4)) / 2e-4; }

struct Case {
  int m, n, k;
  bool ta, tb;
  int batches;
  cublasLtEpilogue_t epilogue;
  float beta;
};

template <typename T>
static void Try(cublasLtHandle_t handle, const Case& c, double tolerance) {
  const int m = c.m, n = c.n, k = c.k;
  T *a = Managed<T>(m * k * c.batches, 1), *b = Managed<T>(n * k * c.batches, 70),
    *cd = Managed<T>(m * n * c.batches, 9);
  T *d = Managed<T>(m * n * c.batches, 5), *bias = Managed<T>(m > n ? m : n, 3),
    *aux = Managed<T>(m * n * c.batches, 33);
  cublasLtMatmulDesc_t what;
  BLAS(cublasLtMatmulDescCreate(&what, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const cublasOperation_t ta = c.ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb = c.tb ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int64_t aux_ld = m, aux_stride = (int64_t)m * n;
  const auto set = [&](cublasLtMatmulDescAttributes_t name, const void* value, size_t bytes) {
    BLAS(cublasLtMatmulDescSetAttribute(what, name, value, bytes));
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof(ta));
  set(CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof(tb));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, &c.epilogue, sizeof(c.epilogue));
  set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof(bias));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof(aux));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &aux_ld, sizeof(aux_ld));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, &aux_stride, sizeof(aux_stride));
  cublasLtMatrixLayout_t layouts[4];
  const int shapes[4][2] = {{c.ta ? k : m, c.ta ? m : k}, {c.tb ? n : k, c.tb ? k : n}, {m, n}, {m, n}};
  for (int i = 0; i < 4; ++i) {
    BLAS(cublasLtMatrixLayoutCreate(&layouts[i], TypeOf(T()), shapes[i][0], shapes[i][1], shapes[i][0]));
    const int64_t stride = (int64_t)shapes[i][0] * shapes[i][1];
    BLAS(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &c.batches, sizeof(int)));
    BLAS(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                          sizeof(stride)));
  }
  cublasLtMatmulPreference_t preference;
  const size_t workspace = 1 << 20;
  BLAS(cublasLtMatmulPreferenceCreate(&preference));
  BLAS(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                            sizeof(workspace)));
  cublasLtMatmulHeuristicResult_t found;
  int number = 0;
  BLAS(cublasLtMatmulAlgoGetHeuristic(handle, what, layouts[0], layouts[1], layouts[2], layouts[3], preference, 1,
                                      &found, &number));
  EXPECT(number == 1);
  std::vector<double> old_aux(m * n * c.batches), old_bias(m > n ? m : n);
  for (size_t i = 0; i < old_aux.size(); ++i) old_aux[i] = Host(aux[i]);
  for (size_t i = 0; i < old_bias.size(); ++i) old_bias[i] = Host(bias[i]);
  const float alpha = 0.5f;
  BLAS(cublasLtMatmul(handle, what, &alpha, a, layouts[0], b, layouts[1], &c.beta, cd, layouts[2], d, layouts[3],
                      &found.algo, nullptr, 0, 0));
  CALL(cudaDeviceSynchronize());
  const int e = c.epilogue;
  const bool biased =
      e == CUBLASLT_EPILOGUE_BIAS || e == CUBLASLT_EPILOGUE_GELU_BIAS || e == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
  for (int batch = 0; batch < c.batches; ++batch) {
    const T *a_of = a + batch * m * k, *b_of = b + batch * n * k;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int l = 0; l < k; ++l) {
          sum += (double)Host(a_of[c.ta ? l + i * k : i + l * m]) * Host(b_of[c.tb ? j + l * n : l + j * k]);
        }
        const int at = i + j * m + batch * m * n;
        double value = alpha * sum + c.beta * Host(cd[at]) + (biased ? old_bias[i] : 0);
        if (e == CUBLASLT_EPILOGUE_GELU_AUX || e == CUBLASLT_EPILOGUE_GELU_AUX_BIAS) {
          EXPECT_NEAR(Host(aux[at]), value, tolerance * (1 + fabs(value)));
        } else {
          EXPECT(Host(aux[at]) == old_aux[at]);
        }
        if (e == CUBLASLT_EPILOGUE_DGELU) {
          value *= GeluSlope(old_aux[at]);
        } else if (e != CUBLASLT_EPILOGUE_DEFAULT && e != CUBLASLT_EPILOGUE_BIAS && e < CUBLASLT_EPILOGUE_BGRADA) {
          value = Gelu(value);
        }
        EXPECT_NEAR(Host(d[at]), value, tolerance * (1 + fabs(value)));
      }
    }
  }
  if (e >= CUBLASLT_EPILOGUE_BGRADA) {
    const bool of_a = e == CUBLASLT_EPILOGUE_BGRADA;
    for (int i = 0; i < (of_a ? m : n); ++i) {
      double sum = 0;
      for (int l = 0; l < k; ++l) {
        sum += of_a ? Host(a[c.ta ? l + i * k : i + l * m]) : Host(b[c.tb ? i + l * n : l + i * k]);
      }
      EXPECT_NEAR(Host(bias[i]), sum, tolerance * (1 + fabs(sum)));
    }
  } else {
    for (size_t i = 0; i < old_bias.size(); ++i) EXPECT(Host(bias[i]) == old_bias[i]);
  }
  for (cublasLtMatrixLayout_t layout : layouts) BLAS(cublasLtMatrixLayoutDestroy(layout));
  BLAS(cublasLtMatmulPreferenceDestroy(preference));
  BLAS(cublasLtMatmulDescDestroy(what));
  for (void* x : std::vector<void*>{a, b, cd, d, bias, aux}) cudaFree(x);
}

static void Refusals(cublasLtHandle_t handle) {
  cublasLtMatmulDesc_t what;
  cublasLtMatrixLayout_t square, other;
  BLAS(cublasLtMatmulDescCreate(&what, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  BLAS(cublasLtMatrixLayoutCreate(&square, CUDA_R_32F, 8, 8, 8));
  BLAS(cublasLtMatrixLayoutCreate(&other, CUDA_R_32F, 8, 9, 8));
  const float one = 1;
  float* x = Managed<float>(128, 0);
  const auto run = [&](cublasLtMatrixLayout_t a) {
    return cublasLtMatmul(handle, what, &one, x, a, x, square, &one, x, square, x, square, nullptr, nullptr, 0, 0);
  };
  BLAS(run(square));
  EXPECT(run(other) == CUBLAS_STATUS_INVALID_VALUE);  // k is 9 and 8
  const cublasLtEpilogue_t relu = CUBLASLT_EPILOGUE_RELU, biased = CUBLASLT_EPILOGUE_BIAS;
  BLAS(cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_EPILOGUE, &relu, sizeof(relu)));
  EXPECT(run(square) == CUBLAS_STATUS_NOT_SUPPORTED);
  BLAS(cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_EPILOGUE, &biased, sizeof(biased)));
  EXPECT(run(square) == CUBLAS_STATUS_INVALID_VALUE);  // without a bias
  EXPECT(cublasLtMatmulDescSetAttribute(what, CUBLASLT_MATMUL_DESC_EPILOGUE, &biased, 1) ==
         CUBLAS_STATUS_INVALID_VALUE);
  const int row = CUBLASLT_ORDER_ROW;
  BLAS(cublasLtMatrixLayoutSetAttribute(square, CUBLASLT_MATRIX_LAYOUT_ORDER, &row, sizeof(row)));
  EXPECT(run(square) == CUBLAS_STATUS_NOT_SUPPORTED);
  cudaFree(x);
}

int main() {
  cublasLtHandle_t handle;
  BLAS(cublasLtCreate(&handle));
  const Case cases[] = {
      {70, 40, 20, true, false, 1, CUBLASLT_EPILOGUE_DEFAULT, 1},
      {70, 40, 20, true, false, 1, CUBLASLT_EPILOGUE_BIAS, 0},
      {40, 50, 9, false, true, 2, CUBLASLT_EPILOGUE_GELU, 0.5f},
      {20, 10, 30, false, false, 2, CUBLASLT_EPILOGUE_GELU_AUX, 0},
      {33, 65, 16, true, true, 1, CUBLASLT_EPILOGUE_GELU_BIAS, 0},
      {64, 64, 8, true, false, 1, CUBLASLT_EPILOGUE_GELU_AUX_BIAS, 0},
      {40, 36, 12, false, false, 2, CUBLASLT_EPILOGUE_DGELU, 0},
      {40, 36, 50, false, true, 1, CUBLASLT_EPILOGUE_BGRADA, 0},
      {40, 36, 50, true, true, 1, CUBLASLT_EPILOGUE_BGRADB, 0},
      {12, 36, 50, true, false, 1, CUBLASLT_EPILOGUE_BGRADB, 1},
  };
  for (const Case& c : cases) {
    Try<float>(handle, c, 1e-5);
    Try<__half>(handle, c, 3e-3);
    Try<__nv_bfloat16>(handle, c, 3e-2);
  }
  Refusals(handle);
  BLAS(cublasLtDestroy(handle));
  return Finish();
}
