// nvcc: -lcufft
// marked: stand-ins for cufft
// Fourier transforms by cuFFT: dimensions, lengths, batches, strides, complex and real, in place; compared with sums on
// the host.
#include <cufftXt.h>

#include <complex>
#include <vector>

#include "check.h"

#define FFT(call) EXPECT((call) == CUFFT_SUCCESS)

using Number = std::complex<double>;

// One dimension of all lines of an array, by the definition.
static void Along(std::vector<Number>& x, int length, size_t step, int sign) {
  const double turn = sign * 2 * 3.14159265358979323846 / length;
  std::vector<Number> root(length), line(length);
  for (int i = 0; i < length; ++i) root[i] = Number(cos(turn * i), sin(turn * i));
  for (size_t first = 0; first < x.size(); ++first) {
    if (first / step % length != 0) continue;
    for (int i = 0; i < length; ++i) line[i] = x[first + i * step];
    for (int k = 0; k < length; ++k) {
      Number sum = 0;
      for (int i = 0; i < length; ++i) sum += line[i] * root[(long long)i * k % length];
      x[first + k * step] = sum;
    }
  }
}

static void Transform(std::vector<Number>& x, const int* n, int rank, int sign) {
  size_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    Along(x, n[i], step, sign);
    step *= n[i];
  }
}

static double Some(size_t i) { return (double)((i * 2654435761u >> 7) % 2001) / 1000 - 1; }

static std::vector<Number> SomeNumbers(size_t count) {
  std::vector<Number> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = Number(Some(2 * i), Some(2 * i + 1));
  return x;
}

template <typename To, typename From>
static std::vector<To> Convert(const std::vector<From>& from) {
  return std::vector<To>(from.begin(), from.end());
}

template <typename T>
static T* Upload(const std::vector<T>& host, size_t room) {
  T* device;
  CALL(cudaMalloc(&device, room * sizeof(T)));
  CALL(cudaMemset(device, 0, room * sizeof(T)));
  CALL(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}
template <typename T>
static std::vector<T> Download(const T* device, size_t count) {
  std::vector<T> host(count);
  CALL(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

template <typename A, typename B>
static void Compare(const std::vector<A>& got, const std::vector<B>& want, double tolerance) {
  EXPECT(got.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const Number a(got[i]), b(want[i]);
    EXPECT_NEAR(a.real(), b.real(), tolerance);
    EXPECT_NEAR(a.imag(), b.imag(), tolerance);
  }
}

static cufftResult Execute(cufftHandle plan, std::complex<float>* in, std::complex<float>* out, int sign) {
  return cufftExecC2C(plan, (cufftComplex*)in, (cufftComplex*)out, sign);
}
static cufftResult Execute(cufftHandle plan, std::complex<double>* in, std::complex<double>* out, int sign) {
  return cufftExecZ2Z(plan, (cufftDoubleComplex*)in, (cufftDoubleComplex*)out, sign);
}

static cufftResult MakePlan(cufftHandle* plan, const int* n, int rank, cufftType type, int batch) {
  int copy[3] = {n[0], rank > 1 ? n[1] : 1, rank > 2 ? n[2] : 1};
  if (batch != 1 && rank > 1) return cufftPlanMany(plan, rank, copy, nullptr, 1, 0, nullptr, 1, 0, type, batch);
  if (rank == 1) return cufftPlan1d(plan, n[0], type, batch);
  return rank == 2 ? cufftPlan2d(plan, n[0], n[1], type) : cufftPlan3d(plan, n[0], n[1], n[2], type);
}

// Out of place forwards, in place backwards.
template <typename T>
static void ComplexOnes(const int* n, int rank, int batch, double tolerance) {
  using C = std::complex<T>;
  size_t size = batch;
  for (int i = 0; i < rank; ++i) size *= n[i];
  std::vector<Number> x = SomeNumbers(size);
  cufftHandle plan;
  FFT(MakePlan(&plan, n, rank, sizeof(T) == 8 ? CUFFT_Z2Z : CUFFT_C2C, batch));
  C* in = Upload(Convert<C>(x), size);
  C* out = Upload(std::vector<C>(), size);
  FFT(Execute(plan, in, out, CUFFT_FORWARD));
  std::vector<Number> want = x;
  Transform(want, n, rank, -1);
  Compare(Download(out, size), want, tolerance * size / batch);
  Compare(Download(in, size), Convert<C>(x), 0);
  FFT(Execute(plan, in, in, CUFFT_INVERSE));
  want = x;
  Transform(want, n, rank, 1);
  Compare(Download(in, size), want, tolerance * size / batch);
  FFT(cufftDestroy(plan));
  cudaFree(in);
  cudaFree(out);
}

// Real numbers, and back to them.
static void RealOnes(const int* n, int rank, int batch, bool in_place) {
  size_t size = batch;
  for (int i = 0; i < rank; ++i) size *= n[i];
  const int last = n[rank - 1], half = last / 2 + 1;
  const size_t rows = size / last;
  const int width = in_place ? 2 * half : last;  // of a row of real numbers
  std::vector<double> real(rows * width, 0.0);
  std::vector<Number> x(size);
  for (size_t i = 0; i < size; ++i) {
    x[i] = Some(i);
    real[i / last * width + i % last] = Some(i);
  }
  Transform(x, n, rank, -1);
  std::vector<Number> want(rows * half);
  for (size_t i = 0; i < want.size(); ++i) want[i] = x[i / half * last + i % half];
  cufftHandle forward, back;
  FFT(MakePlan(&forward, n, rank, CUFFT_D2Z, batch));
  FFT(MakePlan(&back, n, rank, CUFFT_Z2D, batch));
  double* device = Upload(real, rows * 2 * half);
  auto* transformed = (cufftDoubleComplex*)device;
  if (!in_place) CALL(cudaMalloc(&transformed, want.size() * sizeof(Number)));
  FFT(cufftExecD2Z(forward, device, transformed));
  Compare(Download((Number*)transformed, want.size()), want, 1e-11);
  FFT(cufftExecZ2D(back, transformed, device));
  const std::vector<double> got = Download(device, real.size());
  const double scale = (double)size / batch;
  for (size_t i = 0; i < size; ++i) {
    EXPECT_NEAR(got[i / last * width + i % last] / scale, real[i / last * width + i % last], 1e-12);
  }
  FFT(cufftDestroy(forward));
  FFT(cufftDestroy(back));
  if (!in_place) cudaFree(transformed);
  cudaFree(device);
}

// Columns of a matrix, into rows.
static void Strides() {
  const int length = 12, columns = 5;
  std::vector<Number> x = SomeNumbers(length * columns), want(x.size());
  int n[] = {length}, embed[] = {length};
  cufftHandle plan;
  FFT(cufftPlanMany(&plan, 1, n, embed, columns, 1, embed, 1, length, CUFFT_Z2Z, columns));
  Number* in = Upload(x, x.size());
  Number* out = Upload(std::vector<Number>(), x.size());
  FFT(Execute(plan, in, out, CUFFT_FORWARD));
  Along(x, length, columns, -1);
  for (int i = 0; i < length * columns; ++i) want[i] = x[i % length * columns + i / length];
  Compare(Download(out, want.size()), want, 1e-12);
  FFT(cufftDestroy(plan));
  cudaFree(in);
  cudaFree(out);
}

// Plans with sizes of 64 bits, and with the types of elements one by one: rows of a matrix, every second element.
static void WidePlans() {
  const int length = 10, rows = 3;
  long long n[] = {length}, embed[] = {length}, far[] = {1LL << 32};
  std::vector<Number> x = SomeNumbers(2 * length * rows), want(length * rows);
  for (int i = 0; i < length * rows; ++i) want[i] = x[2 * i];
  Along(want, length, 1, 1);
  Number* in = Upload(x, x.size());
  Number* out = Upload(std::vector<Number>(), want.size());
  for (bool by_types : std::vector<bool>{false, true}) {
    cufftHandle plan;
    size_t bytes = 0;
    FFT(cufftCreate(&plan));
    EXPECT(cufftMakePlanMany64(plan, 1, far, NULL, 1, 0, NULL, 1, 0, CUFFT_Z2Z, 1, &bytes) == CUFFT_INVALID_SIZE);
    EXPECT(cufftXtMakePlanMany(plan, 1, n, NULL, 1, 0, CUDA_C_64F, NULL, 1, 0, CUDA_C_64F, 1, &bytes, CUDA_C_32F) ==
           CUFFT_INVALID_TYPE);
    EXPECT(cufftXtMakePlanMany(plan, 1, n, NULL, 1, 0, CUDA_C_16F, NULL, 1, 0, CUDA_C_16F, 1, &bytes, CUDA_C_16F) ==
           CUFFT_NOT_SUPPORTED);
    if (by_types) {
      FFT(cufftXtMakePlanMany(plan, 1, n, embed, 2, 2 * length, CUDA_C_64F, embed, 1, length, CUDA_C_64F, rows, &bytes,
                              CUDA_C_64F));
      FFT(cufftXtExec(plan, in, out, CUFFT_INVERSE));
    } else {
      FFT(cufftMakePlanMany64(plan, 1, n, embed, 2, 2 * length, embed, 1, length, CUFFT_Z2Z, rows, &bytes));
      FFT(Execute(plan, in, out, CUFFT_INVERSE));
    }
    EXPECT(bytes > 0);
    Compare(Download(out, want.size()), want, 1e-12);
    CALL(cudaMemset(out, 0, want.size() * sizeof(Number)));
    FFT(cufftDestroy(plan));
  }
  cudaFree(in);
  cudaFree(out);
}

static void Refusals() {
  cufftHandle plan, made;
  cufftComplex* some;
  CALL(cudaMalloc(&some, 64 * sizeof(cufftComplex)));
  EXPECT(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);
  EXPECT(cufftPlan1d(&plan, 8, CUFFT_C2C, 0) == CUFFT_INVALID_SIZE);
  EXPECT(cufftPlan1d(&plan, 8, (cufftType)3, 1) == CUFFT_INVALID_TYPE);
  EXPECT(cufftPlan3d(&plan, 1 << 20, 1 << 20, 1 << 20, CUFFT_C2C) == CUFFT_INVALID_SIZE);
  EXPECT(cufftPlan1d(&plan, 3 * 16411, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE);  // 16411 is prime
  FFT(cufftPlan1d(&plan, 16384 * 3, CUFFT_C2C, 1));
  FFT(cufftDestroy(plan));
  EXPECT(cufftExecC2C(12345, some, some, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
  FFT(cufftCreate(&made));
  EXPECT(cufftExecC2C(made, some, some, CUFFT_FORWARD) == CUFFT_INVALID_PLAN);
  size_t bytes = 0;
  FFT(cufftMakePlan1d(made, 64, CUFFT_C2C, 1, &bytes));
  EXPECT(bytes > 0);
  EXPECT(cufftExecR2C(made, (cufftReal*)some, some) == CUFFT_INVALID_TYPE);
  EXPECT(cufftExecC2C(made, some, some, 0) == CUFFT_INVALID_VALUE);
  FFT(cufftDestroy(made));
  EXPECT(cufftDestroy(made) == CUFFT_INVALID_PLAN);
  cudaFree(some);
}

int main() {
  for (int n : std::vector<int>{1, 2, 3, 4, 8, 15, 32, 49, 97, 128, 512, 1000}) {
    ComplexOnes<float>(&n, 1, 3, 5e-7);
    ComplexOnes<double>(&n, 1, n < 100 ? 50 : 2, 4e-15);
  }
  const int large[] = {2048, 4096, 6 * 512};
  for (int n : large) ComplexOnes<double>(&n, 1, 1, 4e-15);
  const int plane[] = {12, 16}, solid[] = {8, 5, 4}, odd[] = {3, 4, 7};
  ComplexOnes<float>(plane, 2, 1, 5e-7);
  ComplexOnes<double>(solid, 3, 2, 4e-15);
  ComplexOnes<double>(odd, 3, 1, 4e-15);
  const int even = 16, uneven = 15;
  for (bool in_place : std::vector<bool>{false, true}) {
    RealOnes(&even, 1, 3, in_place);
    RealOnes(&uneven, 1, 2, in_place);
    RealOnes(plane, 2, 1, in_place);
    RealOnes(odd, 3, 2, in_place);
  }
  Strides();
  WidePlans();
  Refusals();
  return Finish();
}
