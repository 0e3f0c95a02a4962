// The scene in double precision with a recursive tracer. A ray that passes an edge by a rounding error may see
// something else there: one pixel in fifty may differ.
#include "../check_support.h"

namespace {

struct Vector {
  double x, y, z;
  Vector operator+(const Vector& o) const { return {x + o.x, y + o.y, z + o.z}; }
  Vector operator-(const Vector& o) const { return {x - o.x, y - o.y, z - o.z}; }
  Vector operator*(double f) const { return {x * f, y * f, z * f}; }
  double Dot(const Vector& o) const { return x * o.x + y * o.y + z * o.z; }
};

struct Scene {
  const float* spheres;
  int count;

  double Trace(const Vector& from, const Vector& direction, int bounces) const {
    if (bounces == 0) return 0;
    double nearest = 1e30;
    const float* hit = nullptr;
    for (int s = 0; s < count; ++s) {
      const float* sphere = spheres + 5 * s;
      const Vector to = Vector{sphere[0], sphere[1], sphere[2]} - from;
      const double along = to.Dot(direction);
      const double rest = double{sphere[3]} * sphere[3] - (to.Dot(to) - along * along);
      if (rest <= 0) continue;
      const double distance = along - std::sqrt(rest);
      if (distance <= 1e-3 || distance >= nearest) continue;
      nearest = distance;
      hit = sphere;
    }
    const double floor_distance = direction.y < -1e-4 ? -from.y / direction.y : 1e30;
    if (hit == nullptr && floor_distance > 50) return 0.4 + 0.4 * direction.y;
    if (floor_distance < nearest) {
      const Vector at = from + direction * floor_distance;
      const bool dark = static_cast<long>(std::floor(at.x) + std::floor(at.z)) % 2 != 0;
      return (dark ? 0.2 : 0.9) * 2 / (2 + 0.1 * floor_distance);
    }
    const Vector at = from + direction * nearest;
    const Vector normal = (at - Vector{hit[0], hit[1], hit[2]}) * (1 / double{hit[3]});
    const double own = std::max(0.0, normal.Dot({0.6, 0.7, -0.4}));
    const Vector mirrored = direction - normal * (2 * direction.Dot(normal));
    return (1 - double{hit[4]}) * own + hit[4] * Trace(at, mirrored, bounces - 1);
  }
};

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto image = check.Find<float>("image");
  const auto spheres = check.Find<float>("sphere_copy");
  const auto shape = check.Find<int32_t>("shape");  // width, height
  const Scene scene = {spheres.before.begin(), static_cast<int>(spheres.count / 5)};
  const int w = shape.before[0];
  const int h = shape.before[1];
  uint64_t different = 0;
  for (int i = 0; i < w * h; ++i) {
    Vector direction = {(i % w + 0.5) / w - 0.5, 0.5 - (i / w + 0.5) / h, 1};
    direction = direction * (1 / std::sqrt(direction.Dot(direction)));
    const double expected = scene.Trace({0, 1, -5}, direction, 4);
    if (std::fabs(image.after[i] - expected) <= 2e-3) continue;
    if (++different * 50 <= image.count) continue;
    check.Near("image", static_cast<uint64_t>(i), image.after[i], expected, 2e-3, 1);
    return check.result();
  }
  return check.result();
}
