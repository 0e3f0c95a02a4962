// The definition, in double precision. Nine passes over 512 numbers below 1: 1e-6 of the square root of 512 and a bit.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto real_in = check.Find<float>("real_in");
  const auto imaginary_in = check.Find<float>("imaginary_in");
  const auto real_out = check.Find<float>("real_out");
  const auto imaginary_out = check.Find<float>("imaginary_out");
  const uint64_t length = 512;
  double cosine[length];
  double sine[length];
  for (uint64_t i = 0; i < length; ++i) {
    cosine[i] = std::cos(2 * M_PI * static_cast<double>(i) / length);
    sine[i] = -std::sin(2 * M_PI * static_cast<double>(i) / length);
  }
  for (uint64_t i = 0; i < real_out.count; ++i) {
    const uint64_t base = i / length * length;
    double re = 0;
    double im = 0;
    for (uint64_t t = 0; t < length; ++t) {
      const uint64_t w = t * (i % length) % length;
      re += real_in.before[base + t] * cosine[w] - imaginary_in.before[base + t] * sine[w];
      im += real_in.before[base + t] * sine[w] + imaginary_in.before[base + t] * cosine[w];
    }
    if (!check.Near("real_out", i, real_out.after[i], re, 1e-6, 40)) return check.result();
    if (!check.Near("imaginary_out", i, imaginary_out.after[i], im, 1e-6, 40)) return check.result();
  }
  return check.result();
}
