// The same token by token in double precision. A score is a sum of 32 products of magnitude 1, and its exponential has
// the score's error; results are means of numbers below 1: 1e-5.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  constexpr uint64_t kPage = 16;
  constexpr uint64_t kWidth = 32;
  heddle::kernels::Check check(buffers, count, message, size);
  const auto queries = check.Find<float>("queries");
  const auto keys = check.Find<float>("keys");
  const auto values = check.Find<float>("values");
  const auto table = check.Find<int32_t>("table");
  const auto lengths = check.Find<int32_t>("lengths");
  const auto output = check.Find<float>("output");
  const uint64_t sequences = lengths.count;
  const uint64_t heads = queries.count / (sequences * kWidth);
  const uint64_t pages = table.count / sequences;
  if (output.count != queries.count || keys.count != table.count * heads * kPage * kWidth || values.count != keys.count)
    return check.Fail("keys and values must have a page of every head for each place of the table");
  for (uint64_t s = 0; s < sequences; ++s) {
    const auto length = static_cast<uint64_t>(lengths.before[s]);
    if (length == 0 || length > pages * kPage) return check.Fail("lengths must be from 1 to what the table holds");
    for (uint64_t h = 0; h < heads; ++h) {
      const float* query = queries.before.Range((s * heads + h) * kWidth, kWidth);
      // Where the token's key and value begin.
      std::vector<uint64_t> at(length);
      std::vector<double> score(length);
      double greatest = -1e300;
      for (uint64_t t = 0; t < length; ++t) {
        const auto page = static_cast<uint64_t>(table.before[s * pages + t / kPage]);
        at[t] = ((page * heads + h) * kPage + t % kPage) * kWidth;
        for (uint64_t d = 0; d < kWidth; ++d) score[t] += double{query[d]} * keys.before[at[t] + d];
        score[t] /= std::sqrt(32.0);
        greatest = std::fmax(greatest, score[t]);
      }
      double expected[kWidth] = {};
      double total = 0;
      for (uint64_t t = 0; t < length; ++t) {
        const double weight = std::exp(score[t] - greatest);
        total += weight;
        for (uint64_t d = 0; d < kWidth; ++d) expected[d] += weight * values.before[at[t] + d];
      }
      for (uint64_t d = 0; d < kWidth; ++d) {
        const uint64_t i = (s * heads + h) * kWidth + d;
        if (!check.Near("output", i, output.after[i], expected[d] / total, 1e-5, 1)) return check.result();
      }
    }
  }
  return check.result();
}
