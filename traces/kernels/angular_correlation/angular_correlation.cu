// Two-point angular correlation: for every pair of points on a sphere the bin of the angle between them.
//
// Stands for searches in a loop: each pair runs a binary search whose steps depend on data, and then counts in shared
// memory, where lanes meet in the same bin.

constexpr int kBins = 16;

// points[3 * i ...] are unit vectors; edges[] descends (cosines of the bins' upper ends); bins[] counts.
__global__ void angular_correlation(const float* points, const float* edges, unsigned* bins, int count) {
  __shared__ unsigned own[kBins];
  if (threadIdx.x < kBins) own[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    const float x = points[3 * i];
    const float y = points[3 * i + 1];
    const float z = points[3 * i + 2];
    for (int j = i + 1; j < count; ++j) {
      const float cosine = x * points[3 * j] + y * points[3 * j + 1] + z * points[3 * j + 2];
      int low = 0;
      int high = kBins - 1;
      while (low < high) {
        const int middle = (low + high) / 2;
        if (cosine >= edges[middle]) {
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      atomicAdd(&own[low], 1u);
    }
  }
  __syncthreads();
  if (threadIdx.x < kBins) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

// Before: coordinates as small multiples of 1/64, with which single precision computes exactly.
__global__ void scale(const int* coordinates, float* points, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) points[i] = static_cast<float>(coordinates[i]) * (1.0f / 64.0f);
}
