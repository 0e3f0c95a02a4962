// Jacobi steps of a five-point stencil in one launch: all blocks meet at a barrier of the whole grid between two steps.
//
// Stands for persistent kernels whose blocks wait for one another: a counter in global memory that every block raises
// and then polls, besides two barriers of the block per tile. All blocks have to be on the machine at once; those that
// have fewer tiles wait for the others.

constexpr int kWide = 32;
constexpr int kMostRows = 16;

// Ends when all threads of the grid have come here in this step, and what they have written can be seen.
__device__ void MeetAllBlocks(unsigned int* arrived, volatile unsigned int* released, unsigned int step) {
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    __threadfence();
    if (atomicAdd(arrived, 1u) == gridDim.x * (step + 1) - 1) *released = step + 1;
    while (*released <= step) {
    }
    __threadfence();
  }
  __syncthreads();
}

// A block of 32 x blockDim.y threads takes every gridDim.x-th tile of as many cells. Even steps go from `first` to
// `second`. `width` and `height` are multiples of a tile's.
__global__ void stencil_global_barrier(float* first, float* second, int width, int height, int steps,
                                       unsigned int* arrived, volatile unsigned int* released) {
  __shared__ float cell[kMostRows + 2][kWide + 2];
  const int rows = static_cast<int>(blockDim.y);
  const int tx = static_cast<int>(threadIdx.x) + 1;
  const int ty = static_cast<int>(threadIdx.y) + 1;
  const int across = width / kWide;
  const int tiles = across * (height / rows);
  for (int step = 0; step < steps; ++step) {
    const float* before = step % 2 == 0 ? first : second;
    float* after = step % 2 == 0 ? second : first;
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
      const int x = tile % across * kWide + tx - 1;
      const int y = tile / across * rows + ty - 1;
      const float here = before[y * width + x];
      cell[ty][tx] = here;
      // Beyond the edge it is as on it.
      if (tx == 1) cell[ty][0] = x == 0 ? here : before[y * width + x - 1];
      if (tx == kWide) cell[ty][kWide + 1] = x == width - 1 ? here : before[y * width + x + 1];
      if (ty == 1) cell[0][tx] = y == 0 ? here : before[(y - 1) * width + x];
      if (ty == rows) cell[rows + 1][tx] = y == height - 1 ? here : before[(y + 1) * width + x];
      __syncthreads();
      after[y * width + x] =
          0.5f * here + 0.125f * (cell[ty][tx - 1] + cell[ty][tx + 1] + cell[ty - 1][tx] + cell[ty + 1][tx]);
      __syncthreads();
    }
    MeetAllBlocks(arrived, released, static_cast<unsigned int>(step));
  }
}
