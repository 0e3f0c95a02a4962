// Spreads samples of a measurement onto a grid; the better a sample, the smaller the square that it covers.
//
// Stands for scattering with loops of unequal size: two nested loops whose bounds differ between lanes, atomics to
// neighbouring cells. Values are integers, so that sums do not depend on their order.

__global__ void gridding(const int* x, const int* y, const int* value, const int* radius, int* grid, int samples,
                         int side) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= samples) return;
  const int r = radius[i];
  const int low_x = max(x[i] - r, 0);
  const int high_x = min(x[i] + r, side - 1);
  const int low_y = max(y[i] - r, 0);
  const int high_y = min(y[i] + r, side - 1);
  for (int cy = low_y; cy <= high_y; ++cy) {
    for (int cx = low_x; cx <= high_x; ++cx) {
      const int weight = (r + 1) * (r + 1) - (cx - x[i]) * (cx - x[i]) - (cy - y[i]) * (cy - y[i]);
      if (weight > 0) atomicAdd(&grid[cy * side + cx], weight * value[i]);
    }
  }
}
