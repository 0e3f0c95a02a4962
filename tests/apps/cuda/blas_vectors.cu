// nvcc: -lcublas
// cuBLAS's functions of vectors, and of a matrix and a vector: strides of both signs, scalars and results on either
// side; and copies of matrices.
#include <cublas_v2.h>

#include <vector>

#include "check.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

static double Some(int i) { return (double)((unsigned)i * 2654435761u >> 9 & 1023) / 64 - 8; }

// The names of one precision.
struct Single {
  using T = float;
  static constexpr double kTolerance = 2e-6;
  static constexpr auto Axpy = cublasSaxpy;
  static constexpr auto Scal = cublasSscal;
  static constexpr auto Copy = cublasScopy;
  static constexpr auto Swap = cublasSswap;
  static constexpr auto Dot = cublasSdot;
  static constexpr auto Norm = cublasSnrm2;
  static constexpr auto Sum = cublasSasum;
  static constexpr auto Largest = cublasIsamax;
  static constexpr auto Times = cublasSgemv;
};
struct Double {
  using T = double;
  static constexpr double kTolerance = 1e-14;
  static constexpr auto Axpy = cublasDaxpy;
  static constexpr auto Scal = cublasDscal;
  static constexpr auto Copy = cublasDcopy;
  static constexpr auto Swap = cublasDswap;
  static constexpr auto Dot = cublasDdot;
  static constexpr auto Norm = cublasDnrm2;
  static constexpr auto Sum = cublasDasum;
  static constexpr auto Largest = cublasIdamax;
  static constexpr auto Times = cublasDgemv;
};

template <typename T>
struct Vector {
  std::vector<T> host;
  T* device;
  int n, step;

  Vector(int count, int stride, int seed) : n(count), step(stride) {
    host.resize((size_t)count * abs(stride) + 3);
    for (size_t i = 0; i < host.size(); ++i) host[i] = (T)Some(seed + (int)i);
    CALL(cudaMalloc(&device, host.size() * sizeof(T)));
    Send();
  }
  ~Vector() { cudaFree(device); }
  void Send() { CALL(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice)); }
  T& operator[](int i) { return host[step > 0 ? i * step : (i + 1 - n) * step]; }
  // All elements, those between the vector's as well.
  void Compare(double tolerance) const {
    std::vector<T> back(host.size());
    CALL(cudaMemcpy(back.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < host.size(); ++i) EXPECT_NEAR(back[i], host[i], tolerance * (1 + fabs((double)host[i])));
  }
};

template <typename P>
static void Vectors(cublasHandle_t handle, int n, int incx, int incy) {
  using T = typename P::T;
  Vector<T> x(n, incx, 1), y(n, incy, 500);
  const T alpha = (T)1.5;
  BLAS(P::Axpy(handle, n, &alpha, x.device, incx, y.device, incy));
  for (int i = 0; i < n; ++i) y[i] += alpha * x[i];
  y.Compare(P::kTolerance);
  BLAS(P::Swap(handle, n, x.device, incx, y.device, incy));
  for (int i = 0; i < n; ++i) std::swap(x[i], y[i]);
  x.Compare(P::kTolerance);
  y.Compare(P::kTolerance);
  T dot = 7;
  BLAS(P::Dot(handle, n, x.device, incx, y.device, incy, &dot));
  double sum = 0, size = 1;
  for (int i = 0; i < n; ++i) {
    sum += (double)x[i] * y[i];
    size += fabs((double)x[i] * y[i]);
  }
  EXPECT_NEAR(dot, sum, P::kTolerance * size);
  BLAS(P::Copy(handle, n, x.device, incx, y.device, incy));
  for (int i = 0; i < n; ++i) y[i] = x[i];
  y.Compare(P::kTolerance);
  if (incx < 0) return;
  BLAS(P::Scal(handle, n, &alpha, x.device, incx));
  double squares = 0, absolute = 0;
  int largest = 0;
  for (int i = 0; i < n; ++i) {
    x[i] *= alpha;
    squares += (double)x[i] * x[i];
    absolute += fabs((double)x[i]);
    if (fabs((double)x[i]) > fabs((double)x[largest])) largest = i;
  }
  x.Compare(P::kTolerance);
  T norm = 7, sums = 7;
  int at = 7;
  BLAS(P::Norm(handle, n, x.device, incx, &norm));
  BLAS(P::Sum(handle, n, x.device, incx, &sums));
  BLAS(P::Largest(handle, n, x.device, incx, &at));
  EXPECT_NEAR(norm, sqrt(squares), P::kTolerance * (1 + sqrt(squares)));
  EXPECT_NEAR(sums, absolute, P::kTolerance * (1 + absolute));
  EXPECT(at == (n == 0 ? 0 : largest + 1));
}

template <typename P>
static void MatrixTimesVector(cublasHandle_t handle, bool transposed, int m, int n, int incx, int incy, double beta) {
  using T = typename P::T;
  const int lda = m + 3, inputs = transposed ? m : n, outputs = transposed ? n : m;
  Vector<T> a(lda * n, 1, 3), x(inputs, incx, 9), y(outputs, incy, 77);
  if (beta == 0) {  // is not read
    for (int i = 0; i < outputs; ++i) y[i] = (T)NAN;
    y.Send();
  }
  const T alpha = (T)-0.5, factor = (T)beta;
  BLAS(P::Times(handle, transposed ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, &alpha, a.device, lda, x.device, incx, &factor,
                y.device, incy));
  for (int i = 0; i < outputs; ++i) {
    double sum = 0;
    for (int j = 0; j < inputs; ++j) sum += (double)a.host[transposed ? j + i * lda : i + j * lda] * x[j];
    y[i] = (T)(alpha * sum + (beta == 0 ? 0 : beta * y[i]));
  }
  y.Compare(P::kTolerance * 50);
}

static void ResultsOnDevice(cublasHandle_t handle) {
  Vector<float> x(1000, 1, 4), results(3, 1, 0);
  Vector<double> far(2, 1, 0);
  BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
  BLAS(cublasSdot(handle, 1000, x.device, 1, x.device, 1, results.device));
  BLAS(cublasSnrm2(handle, 1000, x.device, 1, results.device + 1));
  BLAS(cublasSasum(handle, 0, x.device, 1, results.device + 2));
  BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
  float back[3];
  CALL(cudaMemcpy(back, results.device, sizeof(back), cudaMemcpyDeviceToHost));
  EXPECT_NEAR(back[1] * back[1], back[0], 1e-5 * back[0]);
  EXPECT(back[2] == 0);
  // The squares are out of range, the norms are not.
  far.host[0] = 3e200;
  far.host[1] = 4e200;
  far.Send();
  double norm;
  BLAS(cublasDnrm2(handle, 2, far.device, 1, &norm));
  EXPECT_NEAR(norm / 1e200, 5, 1e-14);
  far.host[0] = 3e-200;
  far.host[1] = -4e-200;
  far.Send();
  BLAS(cublasDnrm2(handle, 2, far.device, 1, &norm));
  EXPECT_NEAR(norm / 1e-200, 5, 1e-14);
}

static void Copies() {
  float host[4 * 3], back[4 * 3] = {}, *device;
  for (int i = 0; i < 12; ++i) host[i] = (float)i;
  CALL(cudaMalloc(&device, 7 * 3 * sizeof(float)));
  BLAS(cublasSetMatrix(2, 3, sizeof(float), host, 4, device, 7));
  BLAS(cublasGetMatrix(2, 3, sizeof(float), device, 7, back, 4));
  for (int i = 0; i < 12; ++i) EXPECT(back[i] == (i % 4 < 2 ? host[i] : 0));
  BLAS(cublasSetVector(4, sizeof(float), host, 3, device, 2));
  BLAS(cublasGetVector(4, sizeof(float), device, 2, back, 1));
  for (int i = 0; i < 4; ++i) EXPECT(back[i] == host[3 * i]);
  EXPECT(cublasSetMatrix(5, 3, sizeof(float), host, 4, device, 7) == CUBLAS_STATUS_INVALID_VALUE);
  cudaFree(device);
}

int main() {
  cublasHandle_t handle;
  BLAS(cublasCreate(&handle));
  const int sizes[] = {0, 1, 33, 5000}, steps[][2] = {{1, 1}, {2, -3}, {-1, 2}};
  for (int n : sizes) {
    for (const auto& step : steps) {
      Vectors<Single>(handle, n, step[0], step[1]);
      Vectors<Double>(handle, n, step[0], step[1]);
    }
  }
  for (int transposed = 0; transposed < 2; ++transposed) {
    MatrixTimesVector<Single>(handle, transposed != 0, 70, 45, 1, 1, 0);
    MatrixTimesVector<Single>(handle, transposed != 0, 5, 200, -2, 3, 2);
    MatrixTimesVector<Double>(handle, transposed != 0, 130, 7, 2, -1, -1);
  }
  ResultsOnDevice(handle);
  Copies();
  BLAS(cublasDestroy(handle));
  return Finish();
}
