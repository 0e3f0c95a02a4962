// A path tracer in a world of cubes: light walks from the eye in straight lines, bounces off cubes in random
// directions, and ends where it is absorbed, leaves, or reaches a lamp.
//
// Stands for Monte Carlo light transport: paths of random length, loops in loops, and neighbouring threads that have
// nothing in common after the first bounce. Directions are along the axes and all numbers integers: the result is
// exact.

constexpr int kFree = 0;
constexpr int kLamp = 1;
constexpr int kPaths = 4;
constexpr int kMostBounces = 32;

__device__ unsigned Next(unsigned& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

// world[z][y][x]: 0 and above 4 free, 1 a lamp, others cubes. light[pixel] = paths that reach a lamp.
__global__ void path_tracer(const int* world, int* light, int side) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x;
  const int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= side || py >= side) return;
  int reached = 0;
  for (int path = 0; path < kPaths; ++path) {
    unsigned state = 1u + static_cast<unsigned>((py * side + px) * kPaths + path);
    for (int i = 0; i < 4; ++i) Next(state);
    int x = px;
    int y = py;
    int z = -1;
    int dx = 0;
    int dy = 0;
    int dz = 1;
    for (int bounce = 0; bounce < kMostBounces; ++bounce) {
      int kind = kFree;
      while (true) {
        x += dx;
        y += dy;
        z += dz;
        if (x < 0 || y < 0 || z < 0 || x >= side || y >= side || z >= side) break;
        kind = world[(z * side + y) * side + x];
        if (kind > 0 && kind <= 4) break;
        kind = kFree;
      }
      if (kind == kFree) break;  // out of the world
      if (kind == kLamp) {
        ++reached;
        break;
      }
      if (Next(state) % 8 < 2) break;  // absorbed
      // Back where it came from, and in another direction.
      x -= dx;
      y -= dy;
      z -= dz;
      const unsigned direction = Next(state) % 6;
      dx = direction == 0 ? 1 : direction == 1 ? -1 : 0;
      dy = direction == 2 ? 1 : direction == 3 ? -1 : 0;
      dz = direction == 4 ? 1 : direction == 5 ? -1 : 0;
    }
  }
  light[py * side + px] = reached;
}
