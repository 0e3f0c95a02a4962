// Headers of the toolkit that programs include for a type or a call that changes nothing here; pointers to const.
#include <cudaProfiler.h>
#include <cuda_gl_interop.h>
#include <cuda_profiler_api.h>
#include <driver_functions.h>
#include <library_types.h>

#include "check.h"

__constant__ volatile float factor;

__global__ void Scale(const float* x, float* out) { out[threadIdx.x] = factor * x[threadIdx.x]; }

int main() {
  const float *x, *pinned;
  const volatile float* managed;
  float *out, host[4] = {1, 2, 3, 4};
  size_t pitch;
  EXPECT(cuProfilerStart() == CUDA_SUCCESS);
  EXPECT(CUDA_R_32F == 0 && CUDA_C_64F == 5 && static_cast<cudaDataType>(14) == CUDA_R_16BF);
  CALL(cudaMalloc(&x, sizeof(host)));
  CALL(cudaMallocHost(&pinned, sizeof(host)));
  CALL(cudaMallocManaged(&managed, sizeof(host)));
  CALL(cudaMallocPitch(&out, &pitch, sizeof(host), 1));
  CALL(cudaMemcpy(const_cast<float*>(x), host, sizeof(host), cudaMemcpyHostToDevice));
  const cudaExtent extent = make_cudaExtent(4, 2, 1);
  const cudaPitchedPtr pitched = make_cudaPitchedPtr(host, sizeof(host), 4, 1);
  EXPECT(extent.width == 4 && make_cudaPos(1, 2, 3).z == 3 && pitched.ptr == host);
  const float two = 2;
  CALL(cudaMemcpyToSymbol(factor, &two, sizeof(two)));
  Scale<<<1, 4>>>(x, out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 2 && host[3] == 8);
  // There is no display: nothing can be shared with it.
  cudaGraphicsResource* resource;
  EXPECT(cudaGraphicsGLRegisterBuffer(&resource, 1, cudaGraphicsRegisterFlagsNone) == cudaErrorNotSupported);
  EXPECT(cudaGetLastError() == cudaErrorNotSupported);
  EXPECT(cuProfilerStop() == CUDA_SUCCESS);
  return Finish();
}
