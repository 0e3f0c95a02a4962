// Sum of unsigned numbers: each thread adds up a strided part, a warp's lanes combine with shuffles, warps through
// shared memory. A second launch adds up the blocks' sums.
//
// Stands for reductions: a regular loop, then a tree in which fewer and fewer threads are useful. The warp operations
// make the kernel depend on a warp width of 32.

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kWarp = 32;

// The sum over a warp, in lane 0.
__device__ inline unsigned warp_sum(unsigned value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) value += __shfl_down_sync(kAllLanes, value, distance);
  return value;
}

// sums[b] = what block b's threads add up. blockDim.x is a multiple of 32, at most 1024.
__global__ void reduction(const unsigned* values, unsigned* sums, int count) {
  __shared__ unsigned warp_sums[kWarp];

  unsigned sum = 0;
  const int stride = blockDim.x * gridDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) sum += values[i];

  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  const int warps = blockDim.x / kWarp;
  sum = warp_sum(sum);
  if (lane == 0) warp_sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = warp_sum(lane < warps ? warp_sums[lane] : 0);
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}
