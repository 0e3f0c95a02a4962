// Copies of a group into shared memory (cooperative_groups/memcpy_async.h), which are complete at once here.
// nvcc: -arch=sm_80 -std=c++17
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void Reverse(const int4* from, int* out) {
  __shared__ int4 bytes[64], elements[64], aligned[64];
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  cg::memcpy_async(block, bytes, from, sizeof(int4) * 64);
  cg::memcpy_async(block, elements, 60, from, 64);
  cg::wait_prior<1>(block);
  const int first = warp.meta_group_rank() * 32;
  cg::memcpy_async(warp, aligned + first, from + first, cuda::aligned_size_t<16>(sizeof(int4) * 32));
  cg::wait(block);
  const int t = threadIdx.x;
  out[t] = bytes[63 - t].y + elements[(t + 1) % 60].x + aligned[t].z;
}

int main() {
  int4* from;
  int* out;
  CALL(cudaMallocManaged(&from, 64 * sizeof(int4)));
  CALL(cudaMallocManaged(&out, 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i) from[i] = make_int4(i, 2 * i, 1000 * i, 0);
  Reverse<<<1, 64>>>(from, out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < 64; ++t) EXPECT(out[t] == 2 * (63 - t) + (t + 1) % 60 + 1000 * t);
  return Finish();
}
