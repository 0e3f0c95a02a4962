// Reductions of a warp in one instruction (compute capability 8.0), in kernels that the host's pass reads as well.
// nvcc: -arch=sm_80
#include "check.h"

__global__ void Reduce(int* out) {
  const int t = threadIdx.x;
  int* row = out + 9 * t;
  row[0] = __reduce_add_sync(~0u, t - 8);
  row[1] = __reduce_min_sync(~0u, t - 8);
  row[2] = __reduce_max_sync(~0u, t - 8);
  row[3] = static_cast<int>(__reduce_add_sync(~0u, 2u * t));
  row[4] = static_cast<int>(__reduce_min_sync(~0u, 5u + t));
  row[5] = static_cast<int>(__reduce_max_sync(~0u, 5u + t));
  row[6] = static_cast<int>(__reduce_and_sync(~0u, 0xf0u + t));
  row[7] = static_cast<int>(__reduce_or_sync(~0u, 1u << t % 8));
  row[8] = static_cast<int>(__reduce_xor_sync(~0u, 1u + 2u * t));
}

int main() {
  int* out;
  CALL(cudaMallocManaged(&out, 9 * 32 * sizeof(int)));
  Reduce<<<1, 32>>>(out);
  CALL(cudaDeviceSynchronize());
  unsigned int all = ~0u, odd = 0;
  for (unsigned int t = 0; t < 32; ++t) {
    all &= 0xf0u + t;
    odd ^= 1u + 2u * t;
  }
  for (int t = 0; t < 32; ++t) {
    const int* row = out + 9 * t;
    EXPECT(row[0] == 496 - 256 && row[1] == -8 && row[2] == 23);
    EXPECT(row[3] == 992 && row[4] == 5 && row[5] == 36);
    EXPECT(row[6] == static_cast<int>(all) && row[7] == 255 && row[8] == static_cast<int>(odd));
  }
  return Finish();
}
