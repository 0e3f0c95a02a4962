// Cheapest way down a grid, where each step goes straight or to a neighbouring column; several rows per launch.
//
// Stands for dynamic programming with ghost zones: as in `hotspot`, threads at the rim of a block fall idle row by row,
// with two barriers per row.

// `rows` rows from `first` on; a block finishes blockDim.x - 2 * rows columns.
__global__ void path_finder(const int* wall, const int* before, int* after, int columns, int first, int rows) {
  extern __shared__ int cost[];
  const int t = threadIdx.x;
  const int width = blockDim.x;
  const int x = static_cast<int>(blockIdx.x) * (width - 2 * rows) + t - rows;
  const bool inside = x >= 0 && x < columns;
  if (inside) cost[t] = before[x];
  __syncthreads();
  for (int row = 1; row <= rows; ++row) {
    int own = 0;
    const bool works = inside && t >= row && t < width - row;
    if (works) {
      own = cost[t];
      if (x > 0) own = min(own, cost[t - 1]);
      if (x < columns - 1) own = min(own, cost[t + 1]);
      own += wall[(first + row - 1) * columns + x];
    }
    __syncthreads();
    if (works) cost[t] = own;
    __syncthreads();
  }
  if (inside && t >= rows && t < width - rows) after[x] = cost[t];
}
