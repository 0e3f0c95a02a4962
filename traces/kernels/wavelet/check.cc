// Undoes the transform and compares with the image: it is reversible.
#include <vector>

#include "../check_support.h"

namespace {

void Undo(int64_t* line, int64_t length, int64_t step) {
  const int64_t half = length / 2;
  std::vector<int64_t> values(static_cast<size_t>(length));
  const auto smooth = [&](int64_t i) { return line[i * step]; };
  const auto detail = [&](int64_t i) { return line[(half + i) * step]; };
  const auto floor_of = [](int64_t a, int bits) {
    return (a - ((a % (1 << bits)) + (1 << bits)) % (1 << bits)) / (1 << bits);
  };
  for (int64_t i = 0; i < half; ++i) {
    values[2 * i] = smooth(i) - floor_of(detail(i == 0 ? 0 : i - 1) + detail(i) + 2, 2);
  }
  for (int64_t i = 0; i < half; ++i) {
    values[2 * i + 1] = detail(i) + floor_of(values[2 * i] + values[i == half - 1 ? 2 * i : 2 * i + 2], 1);
  }
  for (int64_t i = 0; i < length; ++i) line[i * step] = values[i];
}

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto image = check.Find<int32_t>("image");
  const auto result = check.Find<int32_t>("result");
  int64_t n = 1;
  while (static_cast<uint64_t>(n * n) < image.count) ++n;
  std::vector<int64_t> back(result.after.begin(), result.after.end());
  for (int64_t x = 0; x < n; ++x) Undo(back.data() + x, n, n);
  for (int64_t y = 0; y < n; ++y) Undo(back.data() + y * n, n, 1);
  for (uint64_t i = 0; i < image.count; ++i) {
    if (!check.Equal("image made from result", i, back[i], image.before[i])) return check.result();
  }
  return check.result();
}
