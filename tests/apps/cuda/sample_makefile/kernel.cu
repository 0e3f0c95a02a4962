// The kernel of the sample, with a wrapper that C++ calls.
#include <cuda_runtime.h>
#include <device_launch_parameters.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__)
#error "the runtime's headers do not have their usual guards"
#endif

__global__ void Saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = a * x[i] + y[i];
}

extern "C" void LaunchSaxpy(int n, float a, const float* x, float* y, cudaStream_t stream) {
  nvtxNameCudaStreamA(0, "default");
  const nvtxRangeId_t range = nvtxRangeStart("launch");
  Saxpy<<<4, 64, 0, stream>>>(n, a, x, y);
  nvtxRangeEnd(range);
}
