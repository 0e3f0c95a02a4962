// Looks at all triangles for every ray. All but the last quotient are whole numbers here, so that hits compare exactly:
// in single precision the quotient is rounded once, on both sides.
#include <cstdlib>

#include "../check_support.h"

namespace {

using Vector = int64_t[3];

// Corners and edges of all triangles.
struct Scene {
  heddle::kernels::Buffer<int32_t> corners;  // [axis][triangle]
  heddle::kernels::Buffer<int32_t> edges;    // [edge][axis][triangle]
  uint64_t count;
};

void Cross(const Vector& a, const Vector& b, Vector& out) {
  for (int i = 0; i < 3; ++i) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

int64_t Dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

void Nearest(const Scene& scene, const Vector& origin, const Vector& direction, float* distance, int64_t* triangle) {
  *distance = 3.402823466e38f;
  *triangle = -1;
  for (uint64_t t = 0; t < scene.count; ++t) {
    Vector edge1, edge2, from, p, q;
    for (uint64_t a = 0; a < 3; ++a) {
      edge1[a] = scene.edges.before[a * scene.count + t];
      edge2[a] = scene.edges.before[(3 + a) * scene.count + t];
      from[a] = origin[a] - scene.corners.before[a * scene.count + t];
    }
    Cross(direction, edge2, p);
    Cross(from, edge1, q);
    const int64_t determinant = Dot(edge1, p);
    if (determinant == 0) continue;
    const int64_t sign = determinant < 0 ? -1 : 1;
    const int64_t u = sign * Dot(from, p);
    const int64_t v = sign * Dot(direction, q);
    const int64_t along = sign * Dot(edge2, q);
    if (u < 0 || v < 0 || u + v > std::llabs(determinant) || along <= 0) continue;
    const float here = static_cast<float>(along) / static_cast<float>(std::llabs(determinant));
    if (here >= *distance) continue;  // equals: the lower number, which came first
    *distance = here;
    *triangle = static_cast<int64_t>(t);
  }
}

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const Scene scene = {check.Find<int32_t>("corners"), check.Find<int32_t>("edges"),
                       check.Find<int32_t>("corners").count / 3};
  const auto origins = check.Find<int32_t>("origins");
  const auto directions = check.Find<int32_t>("directions");
  const auto ray_triangles = check.Find<int32_t>("ray_triangles");
  const auto ray_distances = check.Find<float>("ray_distances");
  const auto picture_triangles = check.Find<int32_t>("picture_triangles");
  const auto picture_distances = check.Find<float>("picture_distances");
  const auto shape = check.Find<int32_t>("picture_shape");
  const uint64_t rays = ray_triangles.count;
  if (scene.edges.count != scene.count * 6 || origins.count != 3 * rays || directions.count != 3 * rays ||
      ray_distances.count != rays)
    return check.Fail("edges must be two per triangle, origins, directions and results one per ray");
  int64_t hits = 0;
  for (uint64_t i = 0; i < rays; ++i) {
    Vector origin, direction;
    for (uint64_t a = 0; a < 3; ++a) {
      origin[a] = origins.before[a * rays + i];
      direction[a] = 2 * directions.before[a * rays + i] + 1;
    }
    float distance = 0;
    int64_t triangle = 0;
    Nearest(scene, origin, direction, &distance, &triangle);
    hits += triangle >= 0 ? 1 : 0;
    if (!check.Equal("ray_triangles", i, ray_triangles.after[i], triangle)) return check.result();
    if (!check.Near("ray_distances", i, ray_distances.after[i], distance, 0, 1)) return check.result();
  }
  const int64_t width = shape.before[0];
  const int64_t height = shape.before[1];
  if (picture_triangles.count != static_cast<uint64_t>(width * height) ||
      picture_distances.count != picture_triangles.count)
    return check.Fail("the picture's results must be one per pixel");
  for (uint64_t i = 0; i < picture_triangles.count; ++i) {
    const Vector origin = {128, 128, -150};
    const Vector direction = {2 * (static_cast<int64_t>(i) % width) + 1 - width,
                              2 * (static_cast<int64_t>(i) / width) + 1 - height, 65};
    float distance = 0;
    int64_t triangle = 0;
    Nearest(scene, origin, direction, &distance, &triangle);
    hits += triangle >= 0 ? 1 : 0;
    if (!check.Equal("picture_triangles", i, picture_triangles.after[i], triangle)) return check.result();
    if (!check.Near("picture_distances", i, picture_distances.after[i], distance, 0, 1)) return check.result();
  }
  if (hits == 0) return check.Fail("no ray hits anything: the scene shows nothing");
  return check.result();
}
