// cuBLAS's functions of vectors. A stride below 0 counts from the vector's end, as in BLAS.
#include "cublas_api.h"
#include "tracegen/runtime/libraries/blas/scalar.cuh"

namespace heddle::libraries {
namespace {

constexpr int kThreads = 256;

template <typename T>
struct Vector {
  T* data;
  int64_t step;

  Vector(T* from, int n, int increment)
      : data(increment < 0 ? from + int64_t{1 - n} * increment : from), step(increment) {}
  __device__ T& operator[](int i) const { return data[i * step]; }
};

template <typename T>
struct Axpy {
  Scalar<T> alpha;
  Vector<const T> x;
  Vector<T> y;
  __device__ void operator()(int i) const { y[i] += alpha.Get() * x[i]; }
};
template <typename T>
struct Scale {
  Scalar<T> alpha;
  Vector<T> x;
  __device__ void operator()(int i) const { x[i] *= alpha.Get(); }
};
template <typename T>
struct CopyOver {
  Vector<const T> x;
  Vector<T> y;
  __device__ void operator()(int i) const { y[i] = x[i]; }
};
template <typename T>
struct Swap {
  Vector<T> x, y;
  __device__ void operator()(int i) const {
    const T kept = x[i];
    x[i] = y[i];
    y[i] = kept;
  }
};

template <typename Each>
__global__ void ForEachElement(Each each, int n) {
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += int64_t{blockDim.x} * gridDim.x) {
    each(static_cast<int>(i));
  }
}

template <typename Each>
cublasStatus_t Run(cublasHandle_t handle, int n, const Each& each) {
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  constexpr int kMostBlocks = 1024;
  ForEachElement<<<min((n + kThreads - 1) / kThreads, kMostBlocks), kThreads, 0, handle->stream>>>(each, n);
  return Launched();
}

// Reductions: what an element is, how two partial results become one, and what is told at the end.
template <typename T>
struct Dot {
  using Part = T;
  using Result = T;
  Vector<const T> x, y;
  __device__ static Part Empty() { return 0; }
  __device__ Part Of(int i) const { return x[i] * y[i]; }
  __device__ static Part Join(Part a, Part b) { return a + b; }
  __device__ static Result Tell(Part part) { return part; }
};
template <typename T>
struct AbsoluteSum {
  using Part = T;
  using Result = T;
  Vector<const T> x;
  __device__ static Part Empty() { return 0; }
  __device__ Part Of(int i) const { return x[i] < 0 ? -x[i] : x[i]; }
  __device__ static Part Join(Part a, Part b) { return a + b; }
  __device__ static Result Tell(Part part) { return part; }
};
// scale^2 * squares: squares of large and small numbers leave no range.
template <typename T>
struct Norm {
  struct Part {
    T scale, squares;
  };
  using Result = T;
  Vector<const T> x;
  __device__ static Part Empty() { return {0, 1}; }
  __device__ Part Of(int i) const { return {x[i] < 0 ? -x[i] : x[i], 1}; }
  __device__ static Part Join(Part a, Part b) {
    if (a.scale < b.scale) {
      const Part kept = a;
      a = b;
      b = kept;
    }
    if (b.scale == 0) return a;
    const T ratio = b.scale / a.scale;
    return {a.scale, a.squares + b.squares * ratio * ratio};
  }
  __device__ static Result Tell(Part part) { return part.scale * sqrt(part.squares); }
};
// The first of the largest, counted from 1.
template <typename T>
struct Largest {
  struct Part {
    T size;
    int at;  // 0 = none
  };
  using Result = int;
  Vector<const T> x;
  __device__ static Part Empty() { return {-1, 0}; }
  __device__ Part Of(int i) const { return {x[i] < 0 ? -x[i] : x[i], i + 1}; }
  __device__ static Part Join(Part a, Part b) {
    if (a.at == 0 || b.at == 0) return a.at == 0 ? b : a;
    if (a.size != b.size) return a.size > b.size ? a : b;
    return a.at < b.at ? a : b;
  }
  __device__ static Result Tell(Part part) { return part.at; }
};

template <typename Kind>
__device__ typename Kind::Part JoinBlock(typename Kind::Part part) {
  __shared__ typename Kind::Part parts[kThreads];
  parts[threadIdx.x] = part;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) parts[threadIdx.x] = Kind::Join(parts[threadIdx.x], parts[threadIdx.x + half]);
  }
  return parts[0];  // for thread 0
}

// A part per block.
template <typename Kind>
__global__ void Reduce(Kind kind, int n, typename Kind::Part* parts) {
  typename Kind::Part part = Kind::Empty();
  for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += int64_t{blockDim.x} * gridDim.x) {
    part = Kind::Join(part, kind.Of(static_cast<int>(i)));
  }
  part = JoinBlock<Kind>(part);
  if (threadIdx.x == 0) parts[blockIdx.x] = part;
}

// One block: the parts become the result.
template <typename Kind>
__global__ void ReduceParts(const typename Kind::Part* parts, int count, typename Kind::Result* result) {
  const typename Kind::Part part = JoinBlock<Kind>(threadIdx.x < count ? parts[threadIdx.x] : Kind::Empty());
  if (threadIdx.x == 0) *result = Kind::Tell(part);
}

template <typename Kind>
cublasStatus_t RunReduction(cublasHandle_t handle, int n, const Kind& kind, typename Kind::Result* result) {
  using Part = typename Kind::Part;
  using Result = typename Kind::Result;
  static_assert(sizeof(Part) <= 16 && kReductionBlocks <= kThreads);
  if (result == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const bool on_device = handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE;
  if (n <= 0) {
    if (on_device)
      return cudaMemsetAsync(result, 0, sizeof(Result), handle->stream) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                                       : CUBLAS_STATUS_EXECUTION_FAILED;
    *result = 0;
    return CUBLAS_STATUS_SUCCESS;
  }
  auto* parts = static_cast<Part*>(handle->scratch);
  auto* told =
      on_device ? result : reinterpret_cast<Result*>(static_cast<char*>(handle->scratch) + kReductionBlocks * 16);
  const int blocks = min((n + kThreads - 1) / kThreads, kReductionBlocks);
  Reduce<<<blocks, kThreads, 0, handle->stream>>>(kind, n, parts);
  ReduceParts<Kind><<<1, kThreads, 0, handle->stream>>>(parts, blocks, told);
  if (const cublasStatus_t status = Launched(); status != CUBLAS_STATUS_SUCCESS || on_device) return status;
  const bool copied =
      cudaMemcpyAsync(result, told, sizeof(Result), cudaMemcpyDeviceToHost, handle->stream) == cudaSuccess &&
      cudaStreamSynchronize(handle->stream) == cudaSuccess;
  return copied ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace
}  // namespace heddle::libraries

using namespace heddle::libraries;  // NOLINT: the functions below have C's names

#define HEDDLE_CHECK_HANDLE(name)                              \
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED; \
  const StandIn stand_in(name)

extern "C" {

cublasStatus_t cublasSaxpy_v2(cublasHandle_t handle, int n, const float* alpha, const float* x, int incx, float* y,
                              int incy) {
  HEDDLE_CHECK_HANDLE("cublasSaxpy");
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return Run(handle, n, Axpy<float>{MakeScalar<float>(handle->pointer_mode, alpha), {x, n, incx}, {y, n, incy}});
}
cublasStatus_t cublasSscal_v2(cublasHandle_t handle, int n, const float* alpha, float* x, int incx) {
  HEDDLE_CHECK_HANDLE("cublasSscal");
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (incx <= 0) return CUBLAS_STATUS_SUCCESS;
  return Run(handle, n, Scale<float>{MakeScalar<float>(handle->pointer_mode, alpha), {x, n, incx}});
}
cublasStatus_t cublasScopy_v2(cublasHandle_t handle, int n, const float* x, int incx, float* y, int incy) {
  HEDDLE_CHECK_HANDLE("cublasScopy");
  return Run(handle, n, CopyOver<float>{{x, n, incx}, {y, n, incy}});
}
cublasStatus_t cublasSswap_v2(cublasHandle_t handle, int n, float* x, int incx, float* y, int incy) {
  HEDDLE_CHECK_HANDLE("cublasSswap");
  return Run(handle, n, Swap<float>{{x, n, incx}, {y, n, incy}});
}
cublasStatus_t cublasSdot_v2(cublasHandle_t handle, int n, const float* x, int incx, const float* y, int incy,
                             float* result) {
  HEDDLE_CHECK_HANDLE("cublasSdot");
  return RunReduction(handle, n, Dot<float>{{x, n, incx}, {y, n, incy}}, result);
}
// These have a result of 0 for strides that are not above 0.
cublasStatus_t cublasSnrm2_v2(cublasHandle_t handle, int n, const float* x, int incx, float* result) {
  HEDDLE_CHECK_HANDLE("cublasSnrm2");
  return RunReduction(handle, incx > 0 ? n : 0, Norm<float>{{x, n, incx}}, result);
}
cublasStatus_t cublasSasum_v2(cublasHandle_t handle, int n, const float* x, int incx, float* result) {
  HEDDLE_CHECK_HANDLE("cublasSasum");
  return RunReduction(handle, incx > 0 ? n : 0, AbsoluteSum<float>{{x, n, incx}}, result);
}
cublasStatus_t cublasIsamax_v2(cublasHandle_t handle, int n, const float* x, int incx, int* result) {
  HEDDLE_CHECK_HANDLE("cublasIsamax");
  return RunReduction(handle, incx > 0 ? n : 0, Largest<float>{{x, n, incx}}, result);
}

cublasStatus_t cublasDaxpy_v2(cublasHandle_t handle, int n, const double* alpha, const double* x, int incx, double* y,
                              int incy) {
  HEDDLE_CHECK_HANDLE("cublasDaxpy");
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  return Run(handle, n, Axpy<double>{MakeScalar<double>(handle->pointer_mode, alpha), {x, n, incx}, {y, n, incy}});
}
cublasStatus_t cublasDscal_v2(cublasHandle_t handle, int n, const double* alpha, double* x, int incx) {
  HEDDLE_CHECK_HANDLE("cublasDscal");
  if (alpha == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (incx <= 0) return CUBLAS_STATUS_SUCCESS;
  return Run(handle, n, Scale<double>{MakeScalar<double>(handle->pointer_mode, alpha), {x, n, incx}});
}
cublasStatus_t cublasDcopy_v2(cublasHandle_t handle, int n, const double* x, int incx, double* y, int incy) {
  HEDDLE_CHECK_HANDLE("cublasDcopy");
  return Run(handle, n, CopyOver<double>{{x, n, incx}, {y, n, incy}});
}
cublasStatus_t cublasDswap_v2(cublasHandle_t handle, int n, double* x, int incx, double* y, int incy) {
  HEDDLE_CHECK_HANDLE("cublasDswap");
  return Run(handle, n, Swap<double>{{x, n, incx}, {y, n, incy}});
}
cublasStatus_t cublasDdot_v2(cublasHandle_t handle, int n, const double* x, int incx, const double* y, int incy,
                             double* result) {
  HEDDLE_CHECK_HANDLE("cublasDdot");
  return RunReduction(handle, n, Dot<double>{{x, n, incx}, {y, n, incy}}, result);
}
// These have a result of 0 for strides that are not above 0.
cublasStatus_t cublasDnrm2_v2(cublasHandle_t handle, int n, const double* x, int incx, double* result) {
  HEDDLE_CHECK_HANDLE("cublasDnrm2");
  return RunReduction(handle, incx > 0 ? n : 0, Norm<double>{{x, n, incx}}, result);
}
cublasStatus_t cublasDasum_v2(cublasHandle_t handle, int n, const double* x, int incx, double* result) {
  HEDDLE_CHECK_HANDLE("cublasDasum");
  return RunReduction(handle, incx > 0 ? n : 0, AbsoluteSum<double>{{x, n, incx}}, result);
}
cublasStatus_t cublasIdamax_v2(cublasHandle_t handle, int n, const double* x, int incx, int* result) {
  HEDDLE_CHECK_HANDLE("cublasIdamax");
  return RunReduction(handle, incx > 0 ? n : 0, Largest<double>{{x, n, incx}}, result);
}

}  // extern "C"
