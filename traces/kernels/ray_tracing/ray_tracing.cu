// Ray tracer for mirroring spheres over a chequered floor; a thread follows the ray of one pixel.
//
// Stands for rays: neighbouring threads hit the same things, except along silhouettes; reflections make the number of
// iterations depend on the scene.

constexpr int kBounces = 4;

// Five numbers for a sphere: centre x, y, z, radius, share of light that it mirrors.
__constant__ float spheres[5 * 16];

__global__ void ray_tracing(float* image, int width, int height, int sphere_count) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x;
  const int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float ox = 0.0f, oy = 1.0f, oz = -5.0f;
  float dx = (static_cast<float>(px) + 0.5f) / static_cast<float>(width) - 0.5f;
  float dy = 0.5f - (static_cast<float>(py) + 0.5f) / static_cast<float>(height);
  float dz = 1.0f;
  float norm = rsqrtf(dx * dx + dy * dy + dz * dz);
  dx *= norm;
  dy *= norm;
  dz *= norm;
  float light = 0.0f;
  float share = 1.0f;
  for (int bounce = 0; bounce < kBounces; ++bounce) {
    float nearest = 1.0e30f;
    int hit = -1;
    for (int s = 0; s < sphere_count; ++s) {
      const float cx = spheres[5 * s] - ox;
      const float cy = spheres[5 * s + 1] - oy;
      const float cz = spheres[5 * s + 2] - oz;
      const float along = cx * dx + cy * dy + cz * dz;
      const float rest = spheres[5 * s + 3] * spheres[5 * s + 3] - (cx * cx + cy * cy + cz * cz - along * along);
      if (rest > 0.0f) {
        const float distance = along - sqrtf(rest);
        if (distance > 1.0e-3f && distance < nearest) {
          nearest = distance;
          hit = s;
        }
      }
    }
    const float floor_distance = dy < -1.0e-4f ? -oy / dy : 1.0e30f;
    if (hit < 0 && floor_distance > 50.0f) {
      light += share * (0.4f + 0.4f * dy);  // sky
      break;
    }
    if (floor_distance < nearest) {
      const int tile =
          static_cast<int>(floorf(ox + dx * floor_distance)) + static_cast<int>(floorf(oz + dz * floor_distance));
      light += share * ((tile & 1) != 0 ? 0.2f : 0.9f) * 2.0f / (2.0f + 0.1f * floor_distance);
      break;
    }
    ox += dx * nearest;
    oy += dy * nearest;
    oz += dz * nearest;
    const float inverse = 1.0f / spheres[5 * hit + 3];
    const float nx = (ox - spheres[5 * hit]) * inverse;
    const float ny = (oy - spheres[5 * hit + 1]) * inverse;
    const float nz = (oz - spheres[5 * hit + 2]) * inverse;
    const float mirror = spheres[5 * hit + 4];
    light += share * (1.0f - mirror) * fmaxf(0.0f, 0.6f * nx + 0.7f * ny - 0.4f * nz);
    share *= mirror;
    const float turn = 2.0f * (dx * nx + dy * ny + dz * nz);
    dx -= turn * nx;
    dy -= turn * ny;
    dz -= turn * nz;
  }
  image[py * width + px] = light;
}
