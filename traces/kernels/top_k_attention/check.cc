// Sorts all keys for every query; the weighted mean of eight numbers below 1 in double precision: 1e-5.
#include <algorithm>
#include <numeric>
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto queries = check.Find<int32_t>("queries");
  const auto keys = check.Find<int32_t>("keys");
  const auto values = check.Find<float>("values");
  const auto chosen = check.Find<int32_t>("chosen");
  const auto output = check.Find<float>("output");
  const uint64_t n = output.count;
  for (uint64_t q = 0; q < n; ++q) {
    std::vector<int64_t> score(values.count);
    for (uint64_t k = 0; k < score.size(); ++k) {
      for (uint64_t d = 0; d < 16; ++d) score[k] += int64_t{queries.before[d * n + q]} * keys.before[k * 16 + d];
    }
    std::vector<uint64_t> order(score.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](uint64_t a, uint64_t b) { return score[a] > score[b]; });
    double total = 0;
    double sum = 0;
    for (uint64_t i = 0; i < 8; ++i) {
      const double weight = std::exp(0.01 * static_cast<double>(score[order[i]] - score[order[0]]));
      total += weight;
      sum += weight * values.before[order[i]];
      if (!check.Equal("chosen", i * n + q, chosen.after[i * n + q], static_cast<int64_t>(order[i])))
        return check.result();
    }
    if (!check.Near("output", q, output.after[q], sum / total, 1e-5, 1)) return check.result();
  }
  return check.result();
}
