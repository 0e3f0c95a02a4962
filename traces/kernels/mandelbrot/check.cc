// Iterates complex numbers on the host with the kernel's fused operations: escape times near the border depend on every
// rounding, so the comparison is exact only if the roundings are the same.
#include "../check_support.h"

namespace {

int EscapeTime(float real, float imaginary, int most) {
  float a = 0;
  float b = 0;
  for (int count = 0; count < most; ++count) {
    const float b_squared = b * b;
    if (std::fma(a, a, b_squared) > 4.0f) return count;
    const float next = std::fma(a, a, -b_squared) + real;
    b = std::fma(2.0f * a, b, imaginary);
    a = next;
  }
  return most;
}

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto view = check.Find<float>("view");
  const auto iterations = check.Find<int32_t>("iterations");
  if (view.count != 6) return check.Fail("view must have left, top, step, width, height and the most iterations");
  const int width = static_cast<int>(view.before[3]);
  const int height = static_cast<int>(view.before[4]);
  const int most = static_cast<int>(view.before[5]);
  if (iterations.count != static_cast<uint64_t>(width) * height) return check.Fail("iterations must be one per pixel");
  for (uint64_t i = 0; i < iterations.count && !check.failed(); ++i) {
    const float real = std::fma(static_cast<float>(i % width), view.before[2], view.before[0]);
    const float imaginary = std::fma(static_cast<float>(i / width), -view.before[2], view.before[1]);
    check.Equal("iterations", i, iterations.after[i], EscapeTime(real, imaginary, most));
  }
  return check.result();
}
