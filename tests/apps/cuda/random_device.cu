// nvcc: -std=c++17
// cuRAND's device functions: known numbers of the three generators, and that skips are what they say.
#include <curand_kernel.h>

#include "check.h"

constexpr int kNumbers = 40, kMore = 21;
constexpr unsigned long long kSeed = 0xdeadbeefcafef00dull, kSequence = 12345, kOffset = 1000003;

// All functions that the generators have in common.
template <typename State>
__global__ void Draw(double* out) {
  State s;
  curand_init(kSeed, kSequence, kOffset, &s);
  int n = 0;
  for (int i = 0; i < 6; ++i) out[n++] = curand(&s);
  for (int i = 0; i < 3; ++i) out[n++] = curand_uniform(&s);
  for (int i = 0; i < 3; ++i) out[n++] = curand_uniform_double(&s);
  for (int i = 0; i < 3; ++i) out[n++] = curand_normal(&s);
  for (int i = 0; i < 3; ++i) out[n++] = curand_normal_double(&s);
  for (int i = 0; i < 3; ++i) out[n++] = curand_log_normal(&s, 0.5f, 0.25f);
  for (int i = 0; i < 3; ++i) out[n++] = curand_log_normal_double(&s, 0.5, 0.25);
  const float2 a = curand_normal2(&s);
  const double2 b = curand_normal2_double(&s);
  const float2 c = curand_log_normal2(&s, 0.1f, 1.5f);
  const double2 d = curand_log_normal2_double(&s, 0.1, 1.5);
  const double pairs[] = {a.x, a.y, b.x, b.y, c.x, c.y, d.x, d.y};
  for (double x : pairs) out[n++] = x;
  for (int i = 0; i < 3; ++i) out[n++] = curand_poisson(&s, 7.5);
  out[n++] = curand_poisson(&s, 5000.0);
  skipahead(1234567ull, &s);
  out[n++] = curand(&s);
  skipahead(0x8000000000000003ull, &s);
  out[n++] = curand(&s);
  skipahead_sequence(0xF000000000000001ull, &s);
  out[n++] = curand(&s);
  skipahead_sequence(5, &s);
  out[n++] = curand(&s);
}

// Philox's functions for four numbers; the last number is MRG32k3a's after other subsequences.
__global__ void DrawFours(double* out) {
  curandStatePhilox4_32_10_t s;
  curand_init(kSeed, kSequence, kOffset, &s);
  const uint4 bits = curand4(&s);
  const float4 uniform = curand_uniform4(&s);
  const double2 uniform2 = curand_uniform2_double(&s);
  const double4 uniform4 = curand_uniform4_double(&s);
  const float4 normal = curand_normal4(&s);
  const double4 normal_double = curand_normal4_double(&s);
  const float4 exponential = curand_log_normal4(&s, 0.5f, 0.5f);
  const uint4 few = curand_poisson4(&s, 3.0), many = curand_poisson4(&s, 6000.0);
  curandStateMRG32k3a_t m;
  curand_init(kSeed, kSequence, kOffset, &m);
  skipahead_subsequence(77, &m);
  const double all[kMore] = {double(bits.x),    double(bits.y), double(bits.z),  double(bits.w),  uniform.x,
                             uniform.w,         uniform2.x,     uniform2.y,      uniform4.x,      uniform4.w,
                             normal.x,          normal.w,       normal_double.x, normal_double.w, exponential.x,
                             exponential.w,     double(few.x),  double(few.w),   double(many.x),  double(many.w),
                             double(curand(&m))};
  for (int i = 0; i < kMore; ++i) out[i] = all[i];
}

// What NVIDIA's header computes on a host.
const double kXorwow[] = {2068936061,
                          1862050142,
                          1190021135,
                          851738406,
                          3186101469,
                          2474420459,
                          0.1759837121,
                          0.3212829828,
                          0.6382042766,
                          0.5909021108,
                          0.5755752933,
                          0.8946699509,
                          -0.5110968351,
                          0.4841270447,
                          1.404772997,
                          -0.01586553857,
                          -1.300704578,
                          -1.406496949,
                          1.791530132,
                          1.040263534,
                          1.712214947,
                          1.334713666,
                          1.871448378,
                          1.830757315,
                          -0.2715271711,
                          0.9779066443,
                          -0.3429271293,
                          -0.4357468596,
                          1.230476141,
                          3.129329443,
                          0.5934972135,
                          0.4557242855,
                          11,
                          8,
                          10,
                          5124,
                          2965604729,
                          1973572416,
                          1641830196,
                          139077470};
const double kPhilox[] = {3937219402,
                          807194274,
                          3104823381,
                          1634249637,
                          2921484453,
                          3162621142,
                          0.1502556354,
                          0.8015794158,
                          0.2814388871,
                          0.5135387613,
                          0.6358141575,
                          0.8207170505,
                          0.7794350982,
                          0.9359228611,
                          -0.3777893484,
                          -0.6258172383,
                          1.145697345,
                          -0.1727758209,
                          1.350328684,
                          1.775002003,
                          1.31312418,
                          1.48374877,
                          1.713354267,
                          1.370346863,
                          -0.2946577668,
                          -0.8325727582,
                          -0.5859489547,
                          0.3592219492,
                          0.1352323294,
                          1.400166988,
                          0.1564468823,
                          1.47410362,
                          6,
                          5,
                          9,
                          4932,
                          298704478,
                          3217160557,
                          2528642018,
                          2238521918};
const double kMrg[] = {2519585805,
                       1198798695,
                       3752028798,
                       2965482004,
                       805365350,
                       1550809464,
                       0.07013462484,
                       0.1968886852,
                       0.8535313606,
                       0.008945447828,
                       0.05707339033,
                       0.07679807023,
                       -1.452650785,
                       0.5011960864,
                       -0.6267250776,
                       -0.370929043,
                       -1.114584349,
                       1.073331406,
                       1.555800915,
                       1.721166492,
                       1.482364178,
                       1.47191748,
                       2.1995849,
                       1.419814503,
                       -1.658690095,
                       -0.5300065279,
                       -0.2991137242,
                       -1.097455274,
                       0.519611001,
                       0.1337794662,
                       2.131325111,
                       52.97245624,
                       10,
                       7,
                       6,
                       4913,
                       614114508,
                       1644421599,
                       734010689,
                       2572388971};
const double kFours[] = {3937219402,
                         807194274,
                         3104823381,
                         1634249637,
                         0.6802111268,
                         0.8015794158,
                         0.5135386568,
                         0.8207172258,
                         0.1105206696,
                         0.9204310955,
                         -0.1110670194,
                         0.216022104,
                         -0.5895096523,
                         0.153812035,
                         0.8838786483,
                         1.455343246,
                         3,
                         4,
                         6073,
                         6034,
                         2153931510};

static void Compare(const char* name, const double* got, const double* want, int count) {
  for (int i = 0; i < count; ++i) {
    // Bits exactly; distributions within the roundings of functions.
    const double tolerance = want[i] == floor(want[i]) ? 0 : 2e-6 * (1 + fabs(want[i]));
    if (fabs(got[i] - want[i]) > tolerance) printf("%s, number %d\n", name, i);
    EXPECT_NEAR(got[i], want[i], tolerance);
  }
}

// A skip is as many numbers, and a sequence begins where it should.
template <typename State>
__global__ void Skips(int* wrong) {
  State one, other;
  curand_init(77, 3, 0, &one);
  for (int n = 0; n < 40; n += 1 + n / 3) {
    other = one;
    skipahead(n, &other);
    State walker = one;
    for (int i = 0; i < n; ++i) curand(&walker);
    if (curand(&walker) != curand(&other)) ++*wrong;
    curand(&one);
  }
  curand_init(77, 0, 5, &one);
  curand_init(77, 0, 0, &other);
  for (int i = 0; i < 5; ++i) curand(&other);
  if (curand(&one) != curand(&other)) ++*wrong;
}

// Means and variances of Poisson numbers: products, rejection, normal.
__global__ void PoissonSums(double lambda, double* sums) {
  curandState s;
  curand_init(1, threadIdx.x, 0, &s);
  double sum = 0, squares = 0;
  for (int i = 0; i < 32; ++i) {
    const double x = curand_poisson(&s, lambda) - lambda;
    sum += x;
    squares += x * x;
  }
  atomicAdd(&sums[0], sum);
  atomicAdd(&sums[1], squares);
}

int main() {
  double* out;
  int* wrong;
  CALL(cudaMallocManaged(&out, 64 * sizeof(double)));
  CALL(cudaMallocManaged(&wrong, sizeof(int)));
  Draw<curandStateXORWOW_t><<<1, 1>>>(out);
  CALL(cudaDeviceSynchronize());
  Compare("XORWOW", out, kXorwow, kNumbers);
  Draw<curandStatePhilox4_32_10_t><<<1, 1>>>(out);
  CALL(cudaDeviceSynchronize());
  Compare("Philox", out, kPhilox, kNumbers);
  Draw<curandStateMRG32k3a_t><<<1, 1>>>(out);
  CALL(cudaDeviceSynchronize());
  Compare("MRG32k3a", out, kMrg, kNumbers);
  DrawFours<<<1, 1>>>(out);
  CALL(cudaDeviceSynchronize());
  Compare("fours", out, kFours, kMore);

  *wrong = 0;
  Skips<curandState><<<1, 1>>>(wrong);
  Skips<curandStatePhilox4_32_10><<<1, 1>>>(wrong);
  Skips<curandStateMRG32k3a><<<1, 1>>>(wrong);
  CALL(cudaDeviceSynchronize());
  EXPECT(*wrong == 0);

  const int threads = 128, numbers = threads * 32;
  const double lambdas[] = {10, 100, 1500, 5000};
  for (double lambda : lambdas) {
    out[0] = out[1] = 0;
    PoissonSums<<<1, threads>>>(lambda, out);
    CALL(cudaDeviceSynchronize());
    // Within five standard errors.
    EXPECT_NEAR(out[0] / numbers, 0, 5 * sqrt(lambda / numbers));
    EXPECT_NEAR(out[1] / numbers, lambda, 5 * lambda * sqrt(2.5 / numbers));
  }
  return Finish();
}
