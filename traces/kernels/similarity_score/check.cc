// With a dense vector per document; two square roots and a division in single precision: 1e-6.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto starts = check.Find<int32_t>("starts");
  const auto words = check.Find<int32_t>("words");
  const auto counts = check.Find<int32_t>("counts");
  const auto scores = check.Find<float>("scores");
  const uint64_t n = starts.count - 1;
  int32_t vocabulary = 0;
  for (uint64_t i = 0; i < words.count; ++i) vocabulary = std::max(vocabulary, words.before[i] + 1);
  std::vector<double> square(n);
  std::vector<double> dense(static_cast<uint64_t>(vocabulary));
  const auto each_word = [&](uint64_t document, auto function) {
    for (int32_t i = starts.before[document]; i < starts.before[document + 1]; ++i) {
      function(static_cast<uint64_t>(words.before[i]), double(counts.before[i]));
    }
  };
  for (uint64_t i = 0; i < n; ++i) each_word(i, [&](uint64_t, double c) { square[i] += c * c; });
  for (uint64_t b = 0; b < n; ++b) {
    dense.assign(dense.size(), 0);
    each_word(b, [&](uint64_t word, double c) { dense[word] = c; });
    for (uint64_t a = 0; a < n; ++a) {
      double product = 0;
      each_word(a, [&](uint64_t word, double c) { product += c * dense[word]; });
      const double norm = std::sqrt(square[a] * square[b]);
      const double expected = norm > 0 ? product / norm : 0;
      if (!check.Near("scores", b * n + a, scores.after[b * n + a], expected, 1e-6, 1)) return check.result();
    }
  }
  return check.result();
}
