// One step of a Jacobi solver for Laplace's equation in three dimensions; a thread walks up a column.
//
// Stands for kernels whose blocks hang over the edge of their data: threads beyond it, or on it, take the short side of
// a branch in every plane. Barriers keep the planes together.

__global__ void laplace3d(const float* before, float* after, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const bool active = x < nx && y < ny;
  const int plane = nx * ny;
  int index = y * nx + x;
  float below = 0.0f;
  float here = 0.0f;
  float above = active ? before[index] : 0.0f;
  for (int z = 0; z < nz; ++z) {
    if (active) {
      below = here;
      here = above;
      if (z < nz - 1) above = before[index + plane];
      if (x == 0 || x == nx - 1 || y == 0 || y == ny - 1 || z == 0 || z == nz - 1) {
        after[index] = here;  // the boundary keeps its value
      } else {
        after[index] =
            (before[index - 1] + before[index + 1] + before[index - nx] + before[index + nx] + below + above) *
            (1.0f / 6.0f);
      }
      index += plane;
    }
    __syncthreads();
  }
}
