// Takes the two best experts in turn, and hands out places expert by expert. The weights are quotients of two numbers
// from 1 to 2, with an exponential of a number below 200 in magnitude, which is rounded in single precision: 2e-5.
#include <vector>

#include "../check_support.h"

namespace {

constexpr uint64_t kExperts = 32;
constexpr uint64_t kWidth = 16;
constexpr uint64_t kTokens = 64;

// The best expert but `except`; the first one of equals.
uint64_t Best(const int64_t* score, uint64_t except) {
  uint64_t best = except == 0 ? 1 : 0;
  for (uint64_t e = best + 1; e < kExperts; ++e) {
    if (e != except && score[e] > score[best]) best = e;
  }
  return best;
}

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto features = check.Find<int32_t>("features");
  const auto gates = check.Find<int32_t>("gates");
  const auto bias = check.Find<int32_t>("bias");
  const auto weights = check.Find<float>("weights");
  const auto places = check.Find<int32_t>("places");
  const auto rows = check.Find<int32_t>("rows");
  const uint64_t n = features.count / kWidth;
  if (places.count != 2 * n || weights.count != 2 * n || rows.count != 2 * n * kWidth)
    return check.Fail("places, weights and rows must be two per token");
  std::vector<uint64_t> chosen(2 * n);
  for (uint64_t t = 0; t < n; ++t) {
    int64_t score[kExperts];
    for (uint64_t e = 0; e < kExperts; ++e) {
      score[e] = bias.before[e];
      for (uint64_t d = 0; d < kWidth; ++d)
        score[e] += int64_t{features.before[t * kWidth + d]} * gates.before[d * kExperts + e];
    }
    chosen[t] = Best(score, kExperts);
    chosen[n + t] = Best(score, chosen[t]);
    const double ratio = std::exp(0.01 * static_cast<double>(score[chosen[n + t]] - score[chosen[t]]));
    if (!check.Near("weights", t, weights.after[t], 1 / (1 + ratio), 2e-5, 1)) return check.result();
    if (!check.Near("weights", n + t, weights.after[n + t], ratio / (1 + ratio), 2e-5, 1)) return check.result();
  }
  uint64_t place = 0;
  for (uint64_t expert = 0; expert < kExperts; ++expert) {
    for (uint64_t block = 0; block < n; block += kTokens) {
      for (uint64_t choice = 0; choice < 2; ++choice) {
        for (uint64_t t = block; t < n && t < block + kTokens; ++t) {
          const uint64_t i = choice * n + t;
          if (chosen[i] != expert) continue;
          if (!check.Equal("places", i, places.after[i], static_cast<int64_t>(place))) return check.result();
          for (uint64_t d = 0; d < kWidth; ++d) {
            const uint64_t at = place * kWidth + d;
            if (!check.Equal("rows", at, rows.after[at], features.before[t * kWidth + d])) return check.result();
          }
          ++place;
        }
      }
    }
  }
  return check.result();
}
