// Prices European options with the Black-Scholes formula.
//
// Stands for arithmetic-heavy kernels: logarithm, exponential, square root and a polynomial for the normal
// distribution, with five coalesced accesses per option. The one data-dependent choice (the sign of d) becomes a
// select, so warps stay together.

constexpr float kRate = 0.02f;        // riskless, per year
constexpr float kVolatility = 0.30f;  // per square root of a year

// Cumulative normal distribution: polynomial of Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.17.
__device__ inline float normal_distribution(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float polynomial =
      k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228040f * expf(-0.5f * d * d) * polynomial;
  return d > 0.0f ? 1.0f - tail : tail;
}

__global__ void black_scholes(const float* stock, const float* strike, const float* years, float* call, float* put,
                              int options) {
  const int stride = blockDim.x * gridDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < options; i += stride) {
    const float price = stock[i];
    const float target = strike[i];
    const float time = years[i];
    const float deviation = kVolatility * sqrtf(time);
    const float d1 = (logf(price / target) + (kRate + 0.5f * kVolatility * kVolatility) * time) / deviation;
    const float d2 = d1 - deviation;
    const float n1 = normal_distribution(d1);
    const float n2 = normal_distribution(d2);
    const float discounted = target * expf(-kRate * time);
    call[i] = price * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - price * (1.0f - n1);
  }
}
