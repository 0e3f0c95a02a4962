// CUB: primitives of blocks and warps, and device-wide algorithms, against the standard library.
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include <vector>

#include "check.h"

template <int kThreads, int kItems>
__global__ void BlockSort(const int* in, int* out, int* sums, int* maxima) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  using Reduce = cub::BlockReduce<int, kThreads>;
  using Scan = cub::BlockScan<int, kThreads, cub::BLOCK_SCAN_RAKING>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Sort::TempStorage sort;
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
  } t;
  int v[kItems];
  const int offset = blockIdx.x * kThreads * kItems;
  Load(t.load).Load(in + offset, v);
  __syncthreads();
  Sort(t.sort).Sort(v);
  __syncthreads();
  Store(t.store).Store(out + offset, v);
  __syncthreads();
  int sum = Reduce(t.reduce).Sum(v);
  __syncthreads();
  int m = Reduce(t.reduce).Reduce(v[kItems - 1], cub::Max());
  __syncthreads();
  int prefix;
  Scan(t.scan).ExclusiveSum(1, prefix);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = sum;
    maxima[blockIdx.x] = m;
  }
  if (prefix != (int)threadIdx.x) sums[blockIdx.x] = -1;
}
__global__ void Warps(const int* in, int* out) {
  using WR = cub::WarpReduce<int>;
  using WS = cub::WarpScan<int>;
  __shared__ typename WR::TempStorage r[4];
  __shared__ typename WS::TempStorage s[4];
  const int w = threadIdx.x / 32;
  int v = in[threadIdx.x];
  int sum = WR(r[w]).Sum(v);
  int pre;
  WS(s[w]).InclusiveSum(v, pre);
  sum = cub::ShuffleIndex<32>(sum, 0, 0xffffffff);
  out[threadIdx.x] = (threadIdx.x % 32 == 31) ? pre - sum : 0;
}

// CUB's algorithms say how much space they need when they are given none.
template <class Algorithm>
void InItsSpace(Algorithm algorithm) {
  void* space = nullptr;
  size_t bytes = 0;
  CALL(algorithm(space, bytes));
  CALL(cudaMalloc(&space, bytes));
  CALL(algorithm(space, bytes));
  CALL(cudaDeviceSynchronize());
  CALL(cudaFree(space));
}

int main() {
  const int n = 128 * 4 * 6;
  std::vector<int> h(n);
  for (int i = 0; i < n; ++i) h[i] = (i * 7919 + 13) % 4001;
  int *in, *out, *sums, *maxima;
  for (int** buffer : {&in, &out, &sums, &maxima}) CALL(cudaMallocManaged(buffer, 2 * n * sizeof(int)));
  std::copy(h.begin(), h.end(), in);
  BlockSort<128, 4><<<6, 128>>>(in, out, sums, maxima);
  CALL(cudaDeviceSynchronize());
  for (int b = 0; b < 6; ++b) {
    std::vector<int> e(h.begin() + b * 512, h.begin() + (b + 1) * 512);
    std::sort(e.begin(), e.end());
    EXPECT(std::equal(e.begin(), e.end(), out + b * 512));
    EXPECT(sums[b] == std::accumulate(e.begin(), e.end(), 0));
    EXPECT(maxima[b] == e.back());
  }
  Warps<<<1, 128>>>(in, out);
  CALL(cudaDeviceSynchronize());
  EXPECT(std::count(out, out + 128, 0) == 128);
  InItsSpace([&](void* t, size_t& b) { return cub::DeviceReduce::Sum(t, b, in, sums, n); });
  EXPECT(sums[0] == std::accumulate(h.begin(), h.end(), 0));
  InItsSpace([&](void* t, size_t& b) { return cub::DeviceScan::InclusiveSum(t, b, in, out, n); });
  EXPECT(out[n - 1] == sums[0]);
  std::vector<int> s(h);
  std::sort(s.begin(), s.end());
  InItsSpace([&](void* t, size_t& b) { return cub::DeviceRadixSort::SortKeys(t, b, in, out, n); });
  EXPECT(std::equal(s.begin(), s.end(), out));
  InItsSpace([&](void* t, size_t& b) { return cub::DeviceRunLengthEncode::Encode(t, b, out, maxima, in, sums, n); });
  std::vector<int> u(s);
  u.erase(std::unique(u.begin(), u.end()), u.end());
  EXPECT(sums[0] == (int)u.size());
  EXPECT(in[0] == std::count(s.begin(), s.end(), s[0]));
  std::copy(h.begin(), h.end(), in);
  InItsSpace([&](void* t, size_t& b) { return cub::DeviceHistogram::HistogramEven(t, b, in, sums, 11, 0, 4010, n); });
  EXPECT(sums[0] == std::count_if(h.begin(), h.end(), [](int v) { return v < 401; }));
  int* offsets;
  CALL(cudaMallocManaged(&offsets, 7 * sizeof(int)));
  for (int i = 0; i < 7; ++i) offsets[i] = i * 512;
  InItsSpace(
      [&](void* t, size_t& b) { return cub::DeviceSegmentedReduce::Max(t, b, in, sums, 6, offsets, offsets + 1); });
  EXPECT(sums[2] == *std::max_element(h.begin() + 1024, h.begin() + 1536));
  InItsSpace([&](void* t, size_t& b) {
    return cub::DeviceSegmentedSort::SortKeys(t, b, in, out, n, 6, offsets, offsets + 1);
  });
  EXPECT(std::is_sorted(out + 512, out + 1024));
  InItsSpace([&](void* t, size_t& b) {
    return cub::DeviceMergeSort::SortKeys(t, b, in, n, [] __device__(int a, int b) { return a < b; });
  });
  EXPECT(std::equal(s.begin(), s.end(), in));
  InItsSpace([&](void* t, size_t& b) { return cub::DeviceSelect::Unique(t, b, in, out, sums, n); });
  EXPECT(sums[0] == (int)u.size());
  InItsSpace([&](void* t, size_t& b) {
    return cub::DevicePartition::If(t, b, in, out, sums, n, [] __device__(int v) { return v < 1000; });
  });
  EXPECT(sums[0] == std::count_if(h.begin(), h.end(), [](int v) { return v < 1000; }));
  return Finish();
}
