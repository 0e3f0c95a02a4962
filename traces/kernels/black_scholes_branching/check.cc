// The formula in double precision, with the error function for the normal distribution.
#include "../check_support.h"

namespace {

double Normal(double d) { return 0.5 * std::erfc(-d / std::sqrt(2.0)); }

}  // namespace

extern "C" int heddle_check(const heddle_buffer* buffers, int count, char* message, int size) {
  heddle::kernels::Check check(buffers, count, message, size);
  const auto stock = check.Find<float>("stock");
  const auto strike = check.Find<float>("strike");
  const auto years = check.Find<float>("years");
  const auto call = check.Find<float>("call");
  const auto put = check.Find<float>("put");
  const double rate = 0.02;
  const double volatility = 0.30;
  for (uint64_t i = 0; i < call.count && !check.failed(); ++i) {
    const double price = stock.before[i];
    const double target = strike.before[i];
    const double time = years.before[i];
    const double deviation = volatility * std::sqrt(time);
    const double d1 = (std::log(price / target) + (rate + 0.5 * volatility * volatility) * time) / deviation;
    const double d2 = d1 - deviation;
    const double discounted = target * std::exp(-rate * time);
    // The polynomial's own error is below 7.5e-8; series and iterations in single precision add some units in the last
    // place of each term.
    const double scale = price + discounted;
    check.Near("call", i, call.after[i], price * Normal(d1) - discounted * Normal(d2), 5e-6, scale);
    check.Near("put", i, put.after[i], discounted * Normal(-d2) - price * Normal(-d1), 5e-6, scale);
  }
  return check.result();
}
