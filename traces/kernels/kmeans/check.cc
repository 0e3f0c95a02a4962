// Distances in double precision: the chosen centre is the nearest, but for what single precision cannot tell apart.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto points = check.Find<float>("points");
  const auto centres = check.Find<float>("centres");
  const auto member = check.Find<int32_t>("member");
  const uint64_t features = points.count / member.count;
  const uint64_t clusters = centres.count / features;
  for (uint64_t i = 0; i < member.count; ++i) {
    const auto distance = [&](uint64_t c) {
      double sum = 0;
      for (uint64_t f = 0; f < features; ++f) {
        const double d = double{points.before[i * features + f]} - centres.before[c * features + f];
        sum += d * d;
      }
      return sum;
    };
    uint64_t best = 0;
    for (uint64_t c = 1; c < clusters; ++c) {
      if (distance(c) < distance(best)) best = c;
    }
    const auto chosen = static_cast<uint64_t>(member.after[i]);
    if (chosen >= clusters || distance(chosen) > distance(best) * (1 + 1e-6)) {
      check.Equal("member", i, member.after[i], static_cast<int64_t>(best));
      return check.result();
    }
  }
  return check.result();
}
