// The PTX one-liners that programs have: special registers, lane masks, fused operations.
#include "check.h"

__device__ unsigned int LaneId() {
  unsigned int lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}
__device__ unsigned int BitField(unsigned int x, unsigned int start, unsigned int bits) {
  unsigned int result;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(result) : "r"(x), "r"(start), "r"(bits));
  return result;
}

__global__ void Work(unsigned int* out) {
  const int i = threadIdx.x;
  out[3 * i] = LaneId();
  out[3 * i + 1] = BitField(0xabcd1234u, i % 16, 8);
  unsigned int high;
  asm volatile("mad.lo.u32 %0, %1, %2, %3;" : "=r"(high) : "r"(i), "r"(5), "r"(7));
  out[3 * i + 2] = high;
}

int main() {
  const int n = 48;
  unsigned int host[n][3], *out;
  CALL(cudaMalloc(&out, sizeof(host)));
  Work<<<1, n>>>(out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    EXPECT(host[i][0] == static_cast<unsigned int>(i % 32));
    EXPECT(host[i][1] == (0xabcd1234u >> (i % 16) & 0xff));
    EXPECT(host[i][2] == static_cast<unsigned int>(i * 5 + 7));
  }
  return Finish();
}
