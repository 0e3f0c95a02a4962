// All atoms for every point, in double precision. At the cutoff the weight is zero, so that a distance that falls on
// the other side of it does not matter: 1e-4.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto starts = check.Find<int32_t>("cell_starts");
  const auto x = check.Find<float>("x");
  const auto y = check.Find<float>("y");
  const auto charge = check.Find<float>("charge");
  const auto potential = check.Find<float>("potential");
  uint64_t side = 1;
  while (side * side + 1 < starts.count) ++side;
  uint64_t width = 1;
  while (width * width < potential.count) ++width;
  for (uint64_t i = 0; i < potential.count; ++i) {
    const double px = (static_cast<double>(i % width) + 0.5) * static_cast<double>(side) / static_cast<double>(width);
    const double py = (static_cast<double>(i / width) + 0.5) * static_cast<double>(side) / static_cast<double>(width);
    double sum = 0;
    double scale = 1;
    for (uint64_t cell = 0; cell < side * side; ++cell) {
      const double cx = static_cast<double>(cell % side);
      const double cy = static_cast<double>(cell / side);
      if (std::fabs(cx + 0.5 - px) > 2 || std::fabs(cy + 0.5 - py) > 2) continue;  // further than 1 from the point
      for (int a = starts.before[cell]; a < starts.before[cell + 1]; ++a) {
        const double square = std::pow(px - cx - x.before[a], 2) + std::pow(py - cy - y.before[a], 2);
        if (square >= 1) continue;
        const double term = charge.before[a] * (1 - square) * (1 - square) / std::sqrt(square + 0.01);
        sum += term;
        scale += std::fabs(term);
      }
    }
    if (!check.Near("potential", i, potential.after[i], sum, 1e-4, scale)) return check.result();
  }
  return check.result();
}
