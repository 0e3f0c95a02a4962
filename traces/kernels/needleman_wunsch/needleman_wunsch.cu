// Global alignment of two sequences by dynamic programming: one launch per diagonal of 16 x 16 tiles.
//
// Stands for wavefront parallelism: blocks of 16 threads, half a warp, in which the number of working threads rises to
// 16 and falls again, with a barrier per diagonal.
//
// score[(n + 1) * (n + 1)]; row 0 and column 0 are set by `borders`.

constexpr int kTile = 16;

__global__ void borders(int* score, int n, int penalty) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > n) return;
  score[i] = -i * penalty;
  score[i * (n + 1)] = -i * penalty;
}

// Block b computes tile (first_x + b, first_y - b).
__global__ void diagonal(const int* a, const int* b, int* score, int n, int penalty, int first_x, int first_y) {
  __shared__ int cell[kTile + 1][kTile + 1];
  __shared__ int left[kTile];
  const int t = threadIdx.x;
  const int x0 = (first_x + blockIdx.x) * kTile;
  const int y0 = (first_y - blockIdx.x) * kTile;
  const int stride = n + 1;
  if (t == 0) cell[0][0] = score[y0 * stride + x0];
  cell[0][t + 1] = score[y0 * stride + x0 + t + 1];
  cell[t + 1][0] = score[(y0 + t + 1) * stride + x0];
  left[t] = a[y0 + t];
  const int own = b[x0 + t];
  __syncthreads();
  for (int step = 0; step < 2 * kTile - 1; ++step) {
    const int y = step - t;
    if (y >= 0 && y < kTile) {
      const int match = cell[y][t] + (left[y] == own ? 5 : -4);
      const int gap = max(cell[y][t + 1], cell[y + 1][t]) - penalty;
      cell[y + 1][t + 1] = max(match, gap);
    }
    __syncthreads();
  }
  for (int y = 0; y < kTile; ++y) score[(y0 + y + 1) * stride + x0 + t + 1] = cell[y + 1][t + 1];
}
