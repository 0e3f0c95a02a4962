// Sorts particles into the cells of a grid in two passes: counts, then places behind a running sum.
//
// Stands for scattering with atomics: skewed cells make lanes collide. Places within a cell depend on the order of the
// threads; which particles a cell holds does not.

__device__ int CellOf(float x, float y, int side) {
  const int cx = min(static_cast<int>(x), side - 1);
  const int cy = min(static_cast<int>(y), side - 1);
  return cy * side + cx;
}

__global__ void count(const float* x, const float* y, int* counts, int particles, int side) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < particles) atomicAdd(&counts[CellOf(fabsf(x[i]), fabsf(y[i]), side)], 1);
}

// starts[c] = particles before cell c; one block, a running sum in shared memory. cells = blockDim.x.
__global__ void scan(const int* counts, int* starts) {
  extern __shared__ int sums[];
  const int t = threadIdx.x;
  sums[t] = counts[t];
  __syncthreads();
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    const int other = t >= distance ? sums[t - distance] : 0;
    __syncthreads();
    sums[t] += other;
    __syncthreads();
  }
  starts[t] = sums[t] - counts[t];
}

__global__ void place(const float* x, const float* y, const int* starts, int* taken, int* order, int particles,
                      int side) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= particles) return;
  const int cell = CellOf(fabsf(x[i]), fabsf(y[i]), side);
  order[starts[cell] + atomicAdd(&taken[cell], 1)] = i;
}
