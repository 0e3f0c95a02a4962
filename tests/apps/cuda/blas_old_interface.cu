// nvcc: -lcublas
// cuBLAS's old interface, without handles: results by value, letters for transposes, errors that are kept.
#include <cublas.h>

#include "check.h"

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

template <typename T>
static T* Upload(const T* host, int n) {
  void* device;
  BLAS(cublasAlloc(n, sizeof(T), &device));
  BLAS(cublasSetVector(n, sizeof(T), host, 1, device, 1));
  return (T*)device;
}

int main() {
  BLAS(cublasInit());
  int version = 0;
  BLAS(cublasGetVersion(&version));
  EXPECT(version == CUBLAS_VERSION);
  // A = (1 3; 2 4), B = (5 7; 6 8), by columns.
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {1, 1, 1, 1};
  const double x[] = {1, -2, 3, -9, 5};
  float *da = Upload(a, 4), *db = Upload(b, 4), *dc = Upload(c, 4), back[4];
  double* dx = Upload(x, 5);
  cublasSgemm('n', 'T', 2, 2, 2, 2, da, 2, db, 2, 1, dc, 2);
  BLAS(cublasGetMatrix(2, 2, sizeof(float), dc, 2, back, 2));
  for (int j = 0; j < 2; ++j) {
    for (int i = 0; i < 2; ++i) EXPECT(back[i + 2 * j] == 2 * (a[i] * b[j] + a[i + 2] * b[j + 2]) + 1);
  }
  cublasSaxpy(4, 2, da, 1, db, 1);
  cublasSgemv('t', 2, 2, 1, da, 2, db, 1, 0, dc, 1);
  BLAS(cublasGetVector(2, sizeof(float), dc, 1, back, 1));
  EXPECT(back[0] == 1 * 7 + 2 * 10 && back[1] == 3 * 7 + 4 * 10);
  EXPECT(cublasSdot(4, da, 1, da, 1) == 30);
  EXPECT(cublasDasum(5, dx, 1) == 20);
  EXPECT(cublasIdamax(5, dx, 1) == 4);
  EXPECT_NEAR(cublasDnrm2(5, dx, 1), sqrt(120.0), 1e-14);
  BLAS(cublasGetError());
  cublasSgemm('x', 'n', 2, 2, 2, 1, da, 2, db, 2, 0, dc, 2);
  cublasSscal(4, 2, da, 1);  // does not hide it
  EXPECT(cublasGetError() == CUBLAS_STATUS_INVALID_VALUE);
  BLAS(cublasGetError());
  BLAS(cublasFree(da));
  BLAS(cublasFree(db));
  BLAS(cublasFree(dc));
  BLAS(cublasFree(dx));
  BLAS(cublasShutdown());
  EXPECT(cublasSdot(4, da, 1, da, 1) == 0);
  EXPECT(cublasGetError() == CUBLAS_STATUS_NOT_INITIALIZED);
  return Finish();
}
