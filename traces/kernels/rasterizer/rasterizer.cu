// Draws triangles: a block of 16 x 16 threads owns a tile of the picture and looks at all triangles in turn.
//
// Stands for rasterisation: one test for the whole tile that does not diverge, then one per pixel that does along the
// triangles' edges, and a depth test behind it. Coordinates are integers, the picture is exact.

constexpr int kTile = 16;

// Seven numbers for a triangle: three corners (x, y), depth. The nearest (least) depth is seen; of equals the first
// one.
__global__ void rasterizer(const int* triangles, int* seen, int count, int width) {
  __shared__ int corner[7];
  const int x = blockIdx.x * kTile + threadIdx.x;
  const int y = blockIdx.y * kTile + threadIdx.y;
  const int t = threadIdx.y * kTile + threadIdx.x;
  const int left = blockIdx.x * kTile;
  const int top = blockIdx.y * kTile;
  int nearest = 0x7fffffff;
  int visible = -1;
  for (int i = 0; i < count; ++i) {
    __syncthreads();
    if (t < 7) corner[t] = triangles[7 * i + t];
    __syncthreads();
    const int x0 = corner[0], y0 = corner[1], x1 = corner[2], y1 = corner[3], x2 = corner[4], y2 = corner[5];
    if (max(max(x0, x1), x2) < left || min(min(x0, x1), x2) >= left + kTile) continue;
    if (max(max(y0, y1), y2) < top || min(min(y0, y1), y2) >= top + kTile) continue;
    const int a = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0);
    const int b = (x2 - x1) * (y - y1) - (y2 - y1) * (x - x1);
    const int c = (x0 - x2) * (y - y2) - (y0 - y2) * (x - x2);
    if ((a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0)) {
      if (corner[6] < nearest) {
        nearest = corner[6];
        visible = i;
      }
    }
  }
  seen[y * width + x] = visible;
}
