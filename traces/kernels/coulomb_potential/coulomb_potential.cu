// Electrostatic potential on a plane of points, from all atoms in constant memory.
//
// Stands for regular, arithmetic-heavy kernels: every thread runs the same loop, all lanes read the same atom.

// Four numbers for an atom: x, y, squared distance from the plane, charge.
__constant__ float atoms[4 * 1024];

__global__ void coulomb_potential(float* potential, int width, int atom_count, float spacing) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const float px = static_cast<float>(x) * spacing;
  const float py = static_cast<float>(y) * spacing;
  float sum = 0.0f;
  for (int i = 0; i < atom_count; ++i) {
    const float dx = px - atoms[4 * i];
    const float dy = py - atoms[4 * i + 1];
    sum += atoms[4 * i + 3] * rsqrtf(dx * dx + dy * dy + atoms[4 * i + 2]);
  }
  potential[y * width + x] = sum;
}
