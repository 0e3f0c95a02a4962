// The same paths in double precision. Rounding grows over the steps: 1e-4 of values of some ten.
#include <vector>

#include "../check_support.h"

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto z = check.Find<float>("z");
  const auto volatility = check.Find<float>("volatility");
  const auto value = check.Find<float>("value");
  const uint64_t paths = value.count;
  const uint64_t steps = z.count / paths;
  for (uint64_t path = 0; path < paths; ++path) {
    std::vector<double> rate(40, 0.05);
    for (uint64_t step = 0; step < steps; ++step) {
      double drift = 0;
      for (uint64_t i = step + 1; i < rate.size(); ++i) {
        const double sigma = volatility.before[i - step - 1];
        drift += 0.25 * sigma * rate[i] / (1 + 0.25 * rate[i]);
        const double growth = 0.25 * sigma * drift + sigma * (0.5 * z.before[step * paths + path] - 0.125 * sigma);
        rate[i] *= std::exp(growth);
      }
    }
    double bond = 1;
    double annuity = 0;
    double sum = 0;
    for (uint64_t i = steps; i < rate.size(); ++i) {
      bond /= 1 + 0.25 * rate[i];
      annuity += 0.25 * bond;
      sum += 100 * std::max(0.0, 1 - bond - 0.045 * annuity);
    }
    for (uint64_t i = 0; i < steps; ++i) sum /= 1 + 0.25 * rate[i];
    if (!check.Near("value", path, value.after[path], sum, 1e-4, 10)) return check.result();
  }
  return check.result();
}
