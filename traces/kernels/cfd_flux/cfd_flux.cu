// Fluxes of an unstructured grid: every element exchanges with four neighbours, some of which are walls or open ends.
//
// Stands for irregular physics: gathers through an index, and a rare branch on what the neighbour is.

constexpr int kWall = -1;
constexpr int kFarField = -2;
constexpr int kFaces = 4;

// state[v * elements + i], v = density, momentum x, momentum y, energy; normals[(2 * face + axis) * elements + i].
__global__ void cfd_flux(const int* neighbours, const float* normals, const float* state, float* flux, int elements) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const float density = state[i];
  const float mx = state[elements + i];
  const float my = state[2 * elements + i];
  const float energy = state[3 * elements + i];
  const float vx = mx / density;
  const float vy = my / density;
  const float pressure = 0.4f * (energy - 0.5f * density * (vx * vx + vy * vy));
  float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int face = 0; face < kFaces; ++face) {
    const int other = neighbours[face * elements + i];
    const float nx = normals[(2 * face) * elements + i];
    const float ny = normals[(2 * face + 1) * elements + i];
    if (other >= 0) {
      const float density2 = state[other];
      const float mx2 = state[elements + other];
      const float my2 = state[2 * elements + other];
      const float energy2 = state[3 * elements + other];
      const float vx2 = mx2 / density2;
      const float vy2 = my2 / density2;
      const float pressure2 = 0.4f * (energy2 - 0.5f * density2 * (vx2 * vx2 + vy2 * vy2));
      const float through = 0.5f * (nx * (vx + vx2) + ny * (vy + vy2));
      const float mean = 0.5f * (pressure + pressure2);
      sum[0] += through * 0.5f * (density + density2);
      sum[1] += through * 0.5f * (mx + mx2) + mean * nx;
      sum[2] += through * 0.5f * (my + my2) + mean * ny;
      sum[3] += through * (0.5f * (energy + energy2) + mean);
    } else if (other == kWall) {
      sum[1] += pressure * nx;
      sum[2] += pressure * ny;
    } else if (other == kFarField) {
      const float through = nx * 0.3f;  // density 1, speed 0.3 along x, pressure 1
      sum[0] += through;
      sum[1] += through * 0.3f + nx;
      sum[2] += ny;
      sum[3] += through * 3.545f;
    }
  }
  for (int v = 0; v < 4; ++v) flux[v * elements + i] = sum[v];
}
