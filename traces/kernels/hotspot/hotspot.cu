// Temperature of a chip: a five-point stencil, several steps per launch in shared memory.
//
// Stands for stencils with ghost zones: a block of 16 x 16 threads loads a tile with its halo, and with every step
// without communication one more ring of threads has nothing to do; threads at the chip's edge branch on their own.

constexpr int kTile = 16;

// One launch does `steps` steps; a block writes the (16 - 2 * steps)^2 cells in the middle of its tile.
__global__ void hotspot(const float* power, const float* before, float* after, int size, int steps) {
  __shared__ float cell[kTile][kTile];
  __shared__ float next[kTile][kTile];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int inner = kTile - 2 * steps;
  const int x = static_cast<int>(blockIdx.x) * inner + tx - steps;
  const int y = static_cast<int>(blockIdx.y) * inner + ty - steps;
  const bool inside = x >= 0 && x < size && y >= 0 && y < size;
  float heat = 0.0f;
  if (inside) {
    cell[ty][tx] = before[y * size + x];
    heat = power[y * size + x];
  }
  __syncthreads();
  for (int step = 1; step <= steps; ++step) {
    const bool works = inside && tx >= step && tx < kTile - step && ty >= step && ty < kTile - step;
    if (works) {
      const float here = cell[ty][tx];
      // Beyond the edge it is as warm as on it.
      const float west = x == 0 ? here : cell[ty][tx - 1];
      const float east = x == size - 1 ? here : cell[ty][tx + 1];
      const float north = y == 0 ? here : cell[ty - 1][tx];
      const float south = y == size - 1 ? here : cell[ty + 1][tx];
      next[ty][tx] =
          here + 0.125f * (west + east + north + south - 4.0f * here) + 0.05f * heat + 0.01f * (80.0f - here);
    }
    __syncthreads();
    if (works) cell[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  if (inside && tx >= steps && tx < kTile - steps && ty >= steps && ty < kTile - steps) {
    after[y * size + x] = cell[ty][tx];
  }
}
