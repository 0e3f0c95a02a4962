// In double precision; phases of some 20 have an error of 2e-6, sums of some hundred terms add a little: 1e-5.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto x = check.Find<float>("x");
  const auto y = check.Find<float>("y");
  const auto z = check.Find<float>("z");
  const auto real = check.Find<float>("real");
  const auto imaginary = check.Find<float>("imaginary");
  const auto samples = check.Find<float>("sample_copy");
  const auto settings = check.Find<int32_t>("settings");  // samples
  for (uint64_t i = 0; i < x.count; ++i) {
    double re = 0;
    double im = 0;
    double scale = 0;
    for (int k = 0; k < settings.before[0]; ++k) {
      const float* s = samples.before.Range(5 * static_cast<uint64_t>(k), 5);
      const double phase =
          2 * M_PI * (double{s[0]} * x.before[i] + double{s[1]} * y.before[i] + double{s[2]} * z.before[i]);
      const double power = double{s[3]} * s[3] + double{s[4]} * s[4];
      re += power * std::cos(phase);
      im += power * std::sin(phase);
      scale += power;
    }
    if (!check.Near("real", i, real.after[i], re, 1e-5, scale)) return check.result();
    if (!check.Near("imaginary", i, imaginary.after[i], im, 1e-5, scale)) return check.result();
  }
  return check.result();
}
