// Tiles in shared memory, two-dimensional blocks, double precision, edges that are no multiple of the tile; without optimisation.
// nvcc: -g -G
#include "check.h"

const int kTile = 8;

__global__ void Multiply(const double* a, const double* b, double* c, int n, int m, int k) {
  __shared__ double tile_a[kTile][kTile + 1];
  __shared__ double tile_b[kTile][kTile + 1];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  double sum = 0;
  for (int start = 0; start < k; start += kTile) {
    const int across = start + threadIdx.x, down = start + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < n && across < k ? a[row * k + across] : 0;
    tile_b[threadIdx.y][threadIdx.x] = down < k && column < m ? b[down * m + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < m) c[row * m + column] = sum;
}

int main() {
  const int n = 19, m = 13, k = 21;
  double a[n * k], b[k * m], c[n * m], *device_a, *device_b, *device_c;
  for (int i = 0; i < n * k; ++i) a[i] = (i * 7) % 11 - 5;
  for (int i = 0; i < k * m; ++i) b[i] = (i * 3) % 17 - 8;
  CALL(cudaMalloc(&device_a, sizeof(a)));
  CALL(cudaMalloc(&device_b, sizeof(b)));
  CALL(cudaMalloc(&device_c, sizeof(c)));
  CALL(cudaMemcpy(device_a, a, sizeof(a), cudaMemcpyHostToDevice));
  CALL(cudaMemcpy(device_b, b, sizeof(b), cudaMemcpyHostToDevice));
  const dim3 block(kTile, kTile), grid((m + kTile - 1) / kTile, (n + kTile - 1) / kTile);
  Multiply<<<grid, block>>>(device_a, device_b, device_c, n, m, k);
  CALL(cudaMemcpy(c, device_c, sizeof(c), cudaMemcpyDeviceToHost));
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < m; ++column) {
      double sum = 0;
      for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * m + column];
      EXPECT(c[row * m + column] == sum);
    }
  }
  return Finish();
}
