// Histogram of bytes: per block in shared memory, then added to the total.
//
// Stands for atomics with collisions: skewed values make lanes of a warp meet in the same bin.

constexpr int kBins = 256;

__global__ void histogram(const unsigned* words, unsigned* bins, int count) {
  __shared__ unsigned own[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) own[bin] = 0;
  __syncthreads();
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const unsigned word = words[i];
    atomicAdd(&own[word & 255u], 1u);
    atomicAdd(&own[word >> 8 & 255u], 1u);
    atomicAdd(&own[word >> 16 & 255u], 1u);
    atomicAdd(&own[word >> 24], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) atomicAdd(&bins[bin], own[bin]);
}
