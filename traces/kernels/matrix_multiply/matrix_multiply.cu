// Product of two row-major matrices, tile by tile through shared memory.
//
// Stands for regular, compute-bound kernels: every thread of a block runs the same loop, tiles are loaded together, two
// barriers per tile separate loading from using. Threads beyond the edge of the result load zeros and stay for the
// barriers, so the only divergent branches are those at the edges.

constexpr int kTile = 16;  // blocks are kTile x kTile threads

// result (rows x columns) = left (rows x inner) * right (inner x columns)
__global__ void matrix_multiply(const float* left, const float* right, float* result, int rows, int inner,
                                int columns) {
  __shared__ float left_tile[kTile][kTile];
  __shared__ float right_tile[kTile][kTile];

  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const int row = blockIdx.y * kTile + y;
  const int column = blockIdx.x * kTile + x;

  float sum = 0.0f;
  for (int first = 0; first < inner; first += kTile) {
    const bool left_inside = row < rows && first + x < inner;
    const bool right_inside = first + y < inner && column < columns;
    left_tile[y][x] = left_inside ? left[row * inner + first + x] : 0.0f;
    right_tile[y][x] = right_inside ? right[(first + y) * columns + column] : 0.0f;
    __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += left_tile[y][k] * right_tile[k][x];
    __syncthreads();
  }

  if (row < rows && column < columns) result[row * columns + column] = sum;
}
