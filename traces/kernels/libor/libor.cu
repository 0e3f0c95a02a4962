// Monte Carlo of forward rates: every thread carries one path through all maturities and values a portfolio.
//
// Stands for long regular loops over a local array: no divergence, local memory traffic, divisions.

constexpr int kMaturities = 40;
constexpr float kStep = 0.25f;

// z[step * paths + path] are normally distributed; value[path] is the discounted payoff of swaptions.
__global__ void libor(const float* z, const float* volatility, float* value, int paths, int steps) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= paths) return;
  float rate[kMaturities];
  for (int i = 0; i < kMaturities; ++i) rate[i] = 0.05f;
  for (int step = 0; step < steps; ++step) {
    const float shock = sqrtf(kStep) * z[step * paths + path];
    float drift = 0.0f;
    for (int i = step + 1; i < kMaturities; ++i) {
      const float sigma = volatility[i - step - 1];
      const float weight = kStep * sigma;
      drift += weight * rate[i] / (1.0f + kStep * rate[i]);
      rate[i] *= expf(weight * drift + sigma * (shock - 0.5f * weight));
    }
  }
  float bond = 1.0f;
  float annuity = 0.0f;
  float sum = 0.0f;
  for (int i = steps; i < kMaturities; ++i) {
    bond /= 1.0f + kStep * rate[i];
    annuity += kStep * bond;
    const float swap = bond + 0.045f * annuity - 1.0f;
    if (swap < 0.0f) sum -= 100.0f * swap;
  }
  for (int i = 0; i < steps; ++i) sum /= 1.0f + kStep * rate[i];
  value[path] = sum;
}
