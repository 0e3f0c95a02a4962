// Sums in double precision. The kernel adds some hundred terms in single precision: 1e-5 of the sum of magnitudes.
#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto potential = check.Find<float>("potential");
  const auto atoms = check.Find<float>("atom_copy");
  const auto shape = check.Find<float>("shape");  // width, atoms, spacing
  const uint64_t width = static_cast<uint64_t>(shape.before[0]);
  for (uint64_t i = 0; i < potential.count; ++i) {
    double sum = 0;
    double scale = 1e-30;
    for (int a = 0; a < static_cast<int>(shape.before[1]); ++a) {
      const float* atom = atoms.before.Range(4 * static_cast<uint64_t>(a), 4);
      const double dx = static_cast<double>(i % width) * shape.before[2] - atom[0];
      const double dy = static_cast<double>(i / width) * shape.before[2] - atom[1];
      const double term = atom[3] / std::sqrt(dx * dx + dy * dy + atom[2]);
      sum += term;
      scale += std::fabs(term);
    }
    if (!check.Near("potential", i, potential.after[i], sum, 1e-5, scale)) return check.result();
  }
  return check.result();
}
