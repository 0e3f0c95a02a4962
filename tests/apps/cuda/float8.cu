// 8-bit floating-point numbers: every number, and conversions to them, on device and host, against a search.
// nvcc: -arch=sm_90
#include <cuda_fp8.h>

#include "check.h"

static double Value(int code, bool e4m3) {
  const int width = e4m3 ? 3 : 2, bias = e4m3 ? 7 : 15;
  const int exponent = (code & 0x7f) >> width, rest = code & ((1 << width) - 1);
  const double one = 1 << width;
  double value = exponent == 0 ? ldexp(rest / one, 1 - bias) : ldexp(1 + rest / one, exponent - bias);
  if (e4m3 && (code & 0x7f) == 0x7f) value = NAN;
  if (!e4m3 && exponent == 31) value = rest == 0 ? INFINITY : NAN;
  return (code & 0x80) != 0 ? -value : value;
}

// The nearest number, ties to the even code, saturating.
static int Nearest(double x, bool e4m3) {
  const int most = e4m3 ? 0x7e : 0x7b;
  const double size = fmin(fabs(x), Value(most, e4m3));
  int best = 0;
  for (int code = 1; code <= most; ++code) {
    const double now = fabs(Value(code, e4m3) - size), before = fabs(Value(best, e4m3) - size);
    if (now < before || (now == before && code % 2 == 0)) best = code;
  }
  return best | (signbit(x) ? 0x80 : 0);
}

struct Results {
  float value[2][256];
  unsigned char code[2][256];
  unsigned char without[2][256];  // saturation
  unsigned short pair[2][256];
  unsigned int four[256];
};

__host__ __device__ void Work(int i, const float* x, Results* out) {
  __nv_fp8_e4m3 narrow;
  __nv_fp8_e5m2 wide;
  narrow.__x = wide.__x = static_cast<unsigned char>(i);
  out->value[0][i] = static_cast<float>(narrow);
  out->value[1][i] = static_cast<float>(wide);
  out->code[0][i] = __nv_fp8_e4m3(x[i]).__x;
  out->code[1][i] = __nv_fp8_e5m2(static_cast<double>(x[i])).__x;
  out->without[0][i] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E4M3);
  out->without[1][i] = __nv_cvt_float_to_fp8(x[i], __NV_NOSAT, __NV_E5M2);
  const float2 two = {x[i], x[255 - i]};
  out->pair[0][i] = __nv_fp8x2_e4m3(two).__x;
  out->pair[1][i] = __nv_fp8x2_e5m2(two).__x;
  const float4 four = static_cast<float4>(__nv_fp8x4_e4m3(float4{x[i], 1, x[255 - i], 2}));
  out->four[i] = (four.y == 1 && four.w == 2)
                     ? static_cast<unsigned>(__nv_fp8_e4m3(four.x).__x) << 8 | __nv_fp8_e4m3(four.z).__x
                     : ~0u;
}

__global__ void Kernel(const float* x, Results* out) { Work(threadIdx.x, x, out); }

static void Check(const float* x, const Results* results) {
  for (int i = 0; i < 256; ++i) {
    for (int kind = 0; kind < 2; ++kind) {
      const bool e4m3 = kind == 0;
      const double value = Value(i, e4m3);
      EXPECT(isnan(value) ? isnan(results->value[kind][i]) : results->value[kind][i] == value);
      const int code = Nearest(x[i], e4m3), other = Nearest(x[255 - i], e4m3);
      EXPECT(results->code[kind][i] == code);
      EXPECT(results->pair[kind][i] == (code | other << 8));
      if (e4m3) EXPECT(results->four[i] == static_cast<unsigned>(code << 8 | other));
      // Beyond the largest number, rounding included.
      const bool beyond = fabs(x[i]) > 464 && e4m3, far = fabs(x[i]) >= 61440 && !e4m3;
      const int sign = signbit(x[i]) ? 0x80 : 0;
      EXPECT(results->without[kind][i] == (beyond ? (sign | 0x7f) : far ? (sign | 0x7c) : code));
    }
  }
}

int main() {
  float* x;
  Results* results;
  CALL(cudaMallocManaged(&x, 256 * sizeof(float)));
  CALL(cudaMallocManaged(&results, sizeof(Results)));
  unsigned state = 99;
  for (int i = 0; i < 256; ++i) {
    state = state * 1664525u + 1013904223u;
    // All exponents that matter; ties among the first.
    const int exponent = static_cast<int>(state >> 27) - 18;
    x[i] = ldexpf(1.0f + static_cast<float>(i < 64 ? (state >> 16 & 15) / 16.0f : (state >> 8 & 0xffff) / 65536.0f),
                  exponent);
    if (i % 3 == 0) x[i] = -x[i];
  }
  x[0] = 0.0f;
  x[1] = -0.0f;
  x[2] = 464.0f;
  x[3] = 1e30f;
  x[4] = ldexpf(1, -10);  // half of the least number of E4M3
  x[5] = 1e-40f;
  x[6] = 61439.0f;
  x[7] = -INFINITY;
  Kernel<<<1, 256>>>(x, results);
  CALL(cudaDeviceSynchronize());
  Check(x, results);
  Results* of_host = new Results;
  for (int i = 0; i < 256; ++i) Work(i, x, of_host);
  Check(x, of_host);
  EXPECT((__nv_cvt_float_to_fp8(NAN, __NV_SATFINITE, __NV_E4M3) & 0x7f) == 0x7f);
  EXPECT(isnan(static_cast<float>(__nv_fp8_e5m2(NAN))));
  EXPECT(static_cast<int>(__nv_fp8_e4m3(-7)) == -7);
  EXPECT(static_cast<double>(__nv_fp8_e5m2(1ll << 40)) == 57344);
  return Finish();
}
