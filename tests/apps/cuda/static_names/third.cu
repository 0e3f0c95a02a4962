// One of the names again, for a variable of another size that only device code names.
#include <cuda_runtime.h>

static __device__ int sums[4];

static __global__ void Count(int* out) {
  sums[threadIdx.x] += threadIdx.x + 5;
  out[threadIdx.x] = sums[threadIdx.x];
}

int Third() {
  int all[4], *out = nullptr, status = cudaMalloc(&out, sizeof(all));
  Count<<<1, 4>>>(out);
  Count<<<1, 4>>>(out);
  status |= cudaMemcpy(all, out, sizeof(all), cudaMemcpyDeviceToHost);
  return status != 0 ? -1 : all[0] + all[1] + all[2] + all[3];
}
