// Counts in shared and global memory, bytes read four at a time, clock() and __ldg.
#include "check.h"

__global__ void Count(const uchar4* data, unsigned int* bins, int n, long long* ticks) {
  __shared__ unsigned int local[64];
  const long long start = clock64();
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uchar4 v = __ldg(data + i);
    atomicAdd(&local[v.x / 4], 1u);
    atomicAdd(&local[v.y / 4], 1u);
    atomicAdd(&local[v.z / 4], 1u);
    atomicAdd(&local[v.w / 4], 1u);
  }
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
  if (threadIdx.x == 0) ticks[blockIdx.x] = clock64() - start;
}

int main() {
  const int bytes = 4096;
  static unsigned char host[bytes];
  unsigned int expected[64] = {}, got[64], *bins;
  for (int i = 0; i < bytes; ++i) ++expected[(host[i] = static_cast<unsigned char>(i * i / 7)) / 4];
  uchar4* data;
  long long *ticks, host_ticks[3];
  CALL(cudaMalloc(&data, bytes));
  CALL(cudaMalloc(&bins, sizeof(got)));
  CALL(cudaMalloc(&ticks, sizeof(host_ticks)));
  CALL(cudaMemcpy(data, host, bytes, cudaMemcpyHostToDevice));
  CALL(cudaMemset(bins, 0, sizeof(got)));
  Count<<<3, 96>>>(data, bins, bytes / 4, ticks);
  CALL(cudaMemcpy(got, bins, sizeof(got), cudaMemcpyDeviceToHost));
  CALL(cudaMemcpy(host_ticks, ticks, sizeof(host_ticks), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) EXPECT(got[i] == expected[i]);
  for (int i = 0; i < 3; ++i) EXPECT(host_ticks[i] > 0);
  return Finish();
}
