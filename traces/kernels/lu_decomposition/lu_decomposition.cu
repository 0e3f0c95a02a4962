// Blocked LU decomposition without pivoting: per step of 16 columns the diagonal tile, the tiles beside it, the rest.
//
// Stands for factorisations: a triangle in which fewer and fewer lanes work, blocks of 16 threads for it, and a bulk of
// regular tile products that shrinks from step to step.

constexpr int kTile = 16;

// One block of 16 threads: the tile at (first, first).
__global__ void diagonal(float* matrix, int n, int first) {
  __shared__ float tile[kTile][kTile + 1];
  const int t = threadIdx.x;
  for (int row = 0; row < kTile; ++row) tile[row][t] = matrix[(first + row) * n + first + t];
  __syncthreads();
  for (int k = 0; k < kTile - 1; ++k) {
    if (t > k) {
      tile[t][k] /= tile[k][k];
      for (int column = k + 1; column < kTile; ++column) tile[t][column] -= tile[t][k] * tile[k][column];
    }
    __syncthreads();
  }
  for (int row = 0; row < kTile; ++row) matrix[(first + row) * n + first + t] = tile[row][t];
}

// Blocks of 32 threads: half of them solves a tile to the right of the diagonal, the other half one below.
__global__ void perimeter(float* matrix, int n, int first) {
  __shared__ float pivot[kTile][kTile + 1];
  __shared__ float right[kTile][kTile + 1];
  __shared__ float below[kTile][kTile + 1];
  const int t = threadIdx.x & (kTile - 1);
  const int other = first + kTile * (blockIdx.x + 1);
  if (threadIdx.x < kTile) {
    for (int row = 0; row < kTile; ++row) {
      pivot[row][t] = matrix[(first + row) * n + first + t];
      right[row][t] = matrix[(first + row) * n + other + t];
    }
  } else {
    for (int row = 0; row < kTile; ++row) below[row][t] = matrix[(other + row) * n + first + t];
  }
  __syncthreads();
  if (threadIdx.x < kTile) {
    for (int row = 1; row < kTile; ++row) {
      for (int k = 0; k < row; ++k) right[row][t] -= pivot[row][k] * right[k][t];
    }
  } else {
    for (int column = 0; column < kTile; ++column) {
      for (int k = 0; k < column; ++k) below[t][column] -= below[t][k] * pivot[k][column];
      below[t][column] /= pivot[column][column];
    }
  }
  __syncthreads();
  if (threadIdx.x < kTile) {
    for (int row = 0; row < kTile; ++row) matrix[(first + row) * n + other + t] = right[row][t];
  } else {
    for (int row = 0; row < kTile; ++row) matrix[(other + row) * n + first + t] = below[row][t];
  }
}

// Blocks of 16 x 16 threads: a tile of the rest, less the product of the two beside the diagonal.
__global__ void interior(float* matrix, int n, int first) {
  __shared__ float right[kTile][kTile];
  __shared__ float below[kTile][kTile];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int x = first + kTile * (blockIdx.x + 1) + tx;
  const int y = first + kTile * (blockIdx.y + 1) + ty;
  right[ty][tx] = matrix[(first + ty) * n + x];
  below[ty][tx] = matrix[y * n + first + tx];
  __syncthreads();
  float sum = 0.0f;
  for (int k = 0; k < kTile; ++k) sum += below[ty][k] * right[k][tx];
  matrix[y * n + x] -= sum;
}

// Before the first step: a heavy diagonal makes pivoting unnecessary.
__global__ void strengthen(float* matrix, const float* offset, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) matrix[i * n + i] += *offset;
}
