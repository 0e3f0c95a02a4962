// nvcc: -std=c++14
// Thrust and CUB are headers that are compiled as they are, below C++17 those of the system: a sort and a scan whose
// blocks wait for one another, and primitives of warps and blocks.
#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <numeric>
#include <vector>

#include "check.h"

struct Scaled {
  int factor;
  __host__ __device__ int operator()(int x, int y) const { return factor * x + y; }
};

// out[i]: the sum of what is before i in its block; per warp the sum of its 32 values.
__global__ void Prefixes(const int* in, int* out, int* warps) {
  using Scan = cub::BlockScan<int, 128>;
  using Reduce = cub::WarpReduce<int>;
  __shared__ Scan::TempStorage scan;
  __shared__ Reduce::TempStorage reduce[4];
  const int i = blockIdx.x * 128 + threadIdx.x;
  Scan(scan).ExclusiveSum(in[i], out[i]);
  const int sum = Reduce(reduce[threadIdx.x / 32]).Sum(in[i]);
  if (threadIdx.x % 32 == 0) warps[i / 32] = sum;
}

int main() {
  const int n = 3000;
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = (i * 7919) % 1009 - 300;
  thrust::device_vector<int> values = host, sums(n), warps(8);
  thrust::sort(values.begin(), values.end());
  std::sort(host.begin(), host.end());
  EXPECT(std::equal(host.begin(), host.end(), thrust::host_vector<int>(values).begin()));

  thrust::inclusive_scan(values.begin(), values.end(), sums.begin());
  const thrust::host_vector<int> scanned = sums;
  std::vector<int> expected(n);
  std::partial_sum(host.begin(), host.end(), expected.begin());
  EXPECT(std::equal(expected.begin(), expected.end(), scanned.begin()));

  thrust::transform(values.begin(), values.end(), sums.begin(), sums.begin(), Scaled{3});
  EXPECT(sums[n - 1] == 3 * host[n - 1] + expected[n - 1]);

  Prefixes<<<2, 128>>>(thrust::raw_pointer_cast(values.data()), thrust::raw_pointer_cast(sums.data()),
                       thrust::raw_pointer_cast(warps.data()));
  CALL(cudaDeviceSynchronize());
  EXPECT(sums[100] == expected[99] && sums[128] == 0 && sums[255] == expected[254] - expected[127]);
  EXPECT(warps[3] == expected[127] - expected[95]);
  return Finish();
}
