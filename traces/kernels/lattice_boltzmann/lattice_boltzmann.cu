// One step of a lattice-Boltzmann fluid in two dimensions with nine directions, around obstacles.
//
// Stands for streaming with a branch on the kind of cell: an obstacle reflects, a fluid cell computes for a while. Many
// accesses per thread, most of them coalesced.

constexpr int kDirections = 9;

// cells[d * size * size + y * size + x]; the lattice wraps around. Directions 1..4 are the axes, 5..8 the diagonals.
__global__ void lattice_boltzmann(const int* obstacle, const float* before, float* after, int size) {
  const int dx[kDirections] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
  const int dy[kDirections] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
  const int opposite[kDirections] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  const int plane = size * size;
  const int here = y * size + x;
  float f[kDirections];
#pragma unroll
  for (int d = 0; d < kDirections; ++d) {
    const int from_x = (x - dx[d] + size) & (size - 1);
    const int from_y = (y - dy[d] + size) & (size - 1);
    f[d] = before[d * plane + from_y * size + from_x];
  }
  if (obstacle[here] == 0) {
#pragma unroll
    for (int d = 0; d < kDirections; ++d) after[opposite[d] * plane + here] = f[d];
    return;
  }
  float density = 0.0f;
  float vx = 0.0f;
  float vy = 0.0f;
#pragma unroll
  for (int d = 0; d < kDirections; ++d) {
    density += f[d];
    vx += static_cast<float>(dx[d]) * f[d];
    vy += static_cast<float>(dy[d]) * f[d];
  }
  vx /= density;
  vy /= density;
  const float square = 1.5f * (vx * vx + vy * vy);
#pragma unroll
  for (int d = 0; d < kDirections; ++d) {
    const float weight = d == 0 ? 4.0f / 9.0f : d < 5 ? 1.0f / 9.0f : 1.0f / 36.0f;
    const float along = 3.0f * (static_cast<float>(dx[d]) * vx + static_cast<float>(dy[d]) * vy);
    const float balance = weight * density * (1.0f + along + 0.5f * along * along - square);
    after[d * plane + here] = f[d] + 0.6f * (balance - f[d]);
  }
}
