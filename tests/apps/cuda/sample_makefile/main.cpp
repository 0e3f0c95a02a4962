// Host code that the host's own compiler has compiled, against the toolkit's headers.
#include <vector>

#include "check.h"

// Headers that come with samples ask whether those of the toolkit were included, by the names of their guards.
#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__) || !defined(__CUDA_RUNTIME_API_H__) || \
    !defined(__VECTOR_TYPES_H__) || defined(__cuda_cuda_h__)
#error "the runtime's headers do not have their usual guards"
#endif
#include <cuda.h>
#ifndef __cuda_cuda_h__
#error "the driver's header does not have its usual guard"
#endif
#include <curand_kernel.h>
#include <nvToolsExt.h>
// Host code knows the states of generators, which its structures point to.
static_assert(sizeof(curandState) == 48 && sizeof(curandStatePhilox4_32_10_t) == 64, "as large as the vendor's");

extern "C" void LaunchSaxpy(int n, float a, const float* x, float* y, cudaStream_t stream);

int main() {
  const int n = 700;
  std::vector<float> x(n), y(n), back(n);
  for (int i = 0; i < n; ++i) {
    x[i] = i;
    y[i] = 2 * i;
  }
  float *device_x, *device_y;
  CALL(cudaMalloc(&device_x, n * sizeof(float)));
  CALL(cudaMalloc(&device_y, n * sizeof(float)));
  CALL(cudaMemcpy(device_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(device_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  cudaStream_t stream;
  CALL(cudaStreamCreate(&stream));
  nvtxEventAttributes_t range = {};
  range.version = NVTX_VERSION;
  range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  range.messageType = NVTX_MESSAGE_TYPE_ASCII;
  range.message.ascii = "saxpy";
  nvtxRangePushEx(&range);
  LaunchSaxpy(n, 3.0f, device_x, device_y, stream);
  nvtxRangePop();
  CALL(cudaStreamSynchronize(stream));
  CALL(cudaMemcpy(back.data(), device_y, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(back[i] == 5 * i);
  return Finish();
}
