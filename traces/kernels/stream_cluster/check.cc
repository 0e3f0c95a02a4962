// Point by point.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto points = check.Find<int32_t>("points");
  const auto centre = check.Find<int32_t>("centre");
  const auto cost = check.Find<int32_t>("cost");
  const auto switches = check.Find<int32_t>("switches");
  const auto gain = check.Find<int32_t>("gain");
  const auto saved = check.Find<int32_t>("saved");
  const auto settings = check.Find<int32_t>("settings");  // the candidate
  const uint64_t n = cost.count;
  const auto candidate = static_cast<uint64_t>(settings.before[0]);
  std::vector<int32_t> expected(gain.count);
  int32_t total = 0;
  for (uint64_t i = 0; i < n; ++i) {
    int32_t distance = 0;
    for (uint64_t d = 0; d < points.count / n; ++d) {
      const int32_t delta = points.before[d * n + i] - points.before[d * n + candidate];
      distance += delta * delta;
    }
    const bool better = distance < cost.before[i];
    if (better) {
      total += cost.before[i] - distance;
    } else {
      expected[static_cast<uint64_t>(centre.before[i])] += distance - cost.before[i];
    }
    if (!check.Equal("switches", i, switches.after[i], better ? 1 : 0)) return check.result();
  }
  for (uint64_t i = 0; i < gain.count; ++i) {
    if (!check.Equal("gain", i, gain.after[i], expected[i])) return check.result();
  }
  check.Equal("saved", 0, saved.after[0], total);
  return check.result();
}
