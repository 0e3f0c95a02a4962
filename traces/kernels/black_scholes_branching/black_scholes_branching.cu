// Prices European options with the Black-Scholes formula, on exponentials, logarithms and roots that are subroutines.
//
// Stands for arithmetic whose elementary functions branch: they reduce their argument in loops and end series and
// iterations where the result no longer changes, so that threads of a warp leave them at different times, many times per
// option. `black_scholes` is the same formula without a branch.

constexpr float kRate = 0.02f;        // riskless, per year
constexpr float kVolatility = 0.30f;  // per square root of a year
constexpr float kLogOfTwo = 0.69314718f;

__device__ __noinline__ float exponential(float x) {
  int doublings = static_cast<int>(x / kLogOfTwo);
  const float rest = x - static_cast<float>(doublings) * kLogOfTwo;
  float sum = 1.0f;
  float term = 1.0f;
  for (int i = 1; i < 30; ++i) {
    term *= rest / static_cast<float>(i);
    const float next = sum + term;
    if (next == sum) break;
    sum = next;
  }
  for (; doublings > 0; --doublings) sum *= 2.0f;
  for (; doublings < 0; ++doublings) sum *= 0.5f;
  return sum;
}

__device__ __noinline__ float logarithm(float x) {
  int doublings = 0;
  for (; x > 1.5f; x *= 0.5f) ++doublings;
  for (; x < 0.75f; x *= 2.0f) --doublings;
  // log(x) = 2 artanh((x - 1) / (x + 1))
  const float ratio = (x - 1.0f) / (x + 1.0f);
  float power = ratio;
  float sum = ratio;
  for (int i = 3; i < 40; i += 2) {
    power *= ratio * ratio;
    const float next = sum + power / static_cast<float>(i);
    if (next == sum) break;
    sum = next;
  }
  return 2.0f * sum + static_cast<float>(doublings) * kLogOfTwo;
}

__device__ __noinline__ float square_root(float x) {
  float root = x > 1.0f ? x : 1.0f;
  for (int i = 0; i < 30; ++i) {
    const float next = 0.5f * (root + x / root);
    if (fabsf(next - root) <= 1e-7f * next) break;
    root = next;
  }
  return root;
}

// Cumulative normal distribution: polynomial of Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.17.
__device__ __noinline__ float normal_distribution(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float polynomial =
      k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float tail = 0.39894228040f * exponential(-0.5f * d * d) * polynomial;
  if (d > 0.0f) return 1.0f - tail;
  return tail;
}

__global__ void black_scholes_branching(const float* stock, const float* strike, const float* years, float* call,
                                        float* put, int options) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= options) return;
  const float price = stock[i];
  const float target = strike[i];
  const float time = years[i];
  const float deviation = kVolatility * square_root(time);
  const float d1 = (logarithm(price / target) + (kRate + 0.5f * kVolatility * kVolatility) * time) / deviation;
  const float d2 = d1 - deviation;
  const float n1 = normal_distribution(d1);
  const float n2 = normal_distribution(d2);
  const float discounted = target * exponential(-kRate * time);
  call[i] = price * n1 - discounted * n2;
  put[i] = discounted * (1.0f - n2) - price * (1.0f - n1);
}
