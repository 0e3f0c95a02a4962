#include "tracegen/execute/code/special_functions.h"

#include <cmath>
#include <limits>

#include "sleef.h"

namespace heddle::tracegen {
namespace {

constexpr double kSqrtPi = 1.7724538509055160273;
constexpr double kSqrt2 = 1.4142135623730950488;
constexpr double kTwoPi = 6.2831853071795864769;

double Erf(double x) { return Sleef_finz_erfd1_u10purecfma(x); }
double Erfc(double x) { return Sleef_finz_erfcd1_u15purecfma(x); }
double Exp(double x) { return Sleef_finz_expd1_u10purecfma(x); }
double Log(double x) { return Sleef_finz_logd1_u10purecfma(x); }

// Halley's method for f(y) = 0, where f is erf or -erfc shifted: f' = 2 / sqrt(pi) * exp(-y^2), f'' = -2 y f'.
template <typename Error>
double Solve(double y, Error error) {
  for (int i = 0; i < 6; ++i) {
    const double step = error(y) / (2.0 / kSqrtPi * Exp(-y * y));
    y -= step / (1.0 + y * step);
  }
  return y;
}

// The modified Bessel function of order n (0 or 1), by its power series below 30 and its asymptotic series above
// (Abramowitz and Stegun, 9.6.10 and 9.7.1).
double BesselI(int n, double x) {
  const double at = std::fabs(x);
  double result;
  if (at < 30) {
    const double quarter = at * at / 4;
    double term = n == 0 ? 1.0 : at / 2;
    result = term;
    for (int k = 1; k < 120 && term > result * 1e-18; ++k) {
      term *= quarter / (static_cast<double>(k) * (k + n));
      result += term;
    }
  } else {
    const double mu = 4.0 * n * n;
    double term = 1.0;
    double sum = 1.0;
    for (int k = 1; k < 20; ++k) {
      const double odd = 2.0 * k - 1;
      term *= -(mu - odd * odd) / (8.0 * at * k);
      sum += term;
    }
    result = Exp(at) / std::sqrt(kTwoPi * at) * sum;
  }
  return n == 1 && x < 0 ? -result : result;
}

}  // namespace

double ErfcInverse(double p) {
  if (std::isnan(p) || p < 0 || p > 2) return std::numeric_limits<double>::quiet_NaN();
  if (p == 0) return std::numeric_limits<double>::infinity();
  if (p == 2) return -std::numeric_limits<double>::infinity();
  if (p > 1) return -ErfcInverse(2 - p);
  if (p > 0.5) return ErfInverse(1 - p);
  const double log = -Log(p * kSqrtPi);
  const double start = std::sqrt(std::fmax(log - 0.5 * Log(std::fmax(log, 0.1)), 0.1));
  return Solve(start, [p](double y) { return p - Erfc(y); });
}

double ErfInverse(double x) {
  if (x < 0) return -ErfInverse(-x);
  if (!(x <= 0.5)) return std::isnan(x) ? x : ErfcInverse(1 - x);
  return Solve(x * kSqrtPi / 2, [x](double y) { return Erf(y) - x; });
}

double NormCdfInverse(double p) { return -kSqrt2 * ErfcInverse(2 * p); }

double ErfcScaled(double x) {
  if (x < 10) return Exp(x * x) * Erfc(x);
  // Abramowitz and Stegun, 7.1.23.
  const double inverse = 1 / (2 * x * x);
  double term = 1;
  double sum = 1;
  for (int k = 1; k < 12; ++k) {
    term *= -(2 * k - 1) * inverse;
    sum += term;
  }
  return sum / (x * kSqrtPi);
}

double BesselI0(double x) { return BesselI(0, x); }
double BesselI1(double x) { return BesselI(1, x); }

}  // namespace heddle::tracegen
