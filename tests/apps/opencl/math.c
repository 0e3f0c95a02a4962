/* Math functions of float and double, with second results, and the fast versions, against the C library. */
#include "app.h"

static const char *source =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "__kernel void functions(__global const float *in, __global float *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  float x = in[i];\n"
    "  __global float *o = out + 24 * i;\n"
    "  float whole, cosine; int exponent;\n"
    "  o[0] = sin(x); o[1] = cos(x); o[2] = exp(x); o[3] = log(x); o[4] = pow(x, 1.5f); o[5] = sqrt(x); o[6] = "
    "atan2(x, 2.0f);\n"
    "  o[7] = fract(x, &whole); o[8] = whole; o[9] = frexp(x, &exponent); o[10] = exponent; o[11] = ldexp(x, 3);\n"
    "  o[12] = sincos(x, &cosine); o[13] = cosine; o[14] = fmod(x, 0.75f); o[15] = hypot(x, 3.0f); o[16] = rsqrt(x);\n"
    "  o[17] = native_exp(x) + native_sin(x) + half_sqrt(x); o[18] = fma(x, x, x) + mad(x, 2.0f, 1.0f); o[19] = "
    "rootn(x, 3);\n"
    "  o[20] = cbrt(x) + exp2(x) + log2(x) + log10(x) + tanh(x); o[21] = pown(x, 3); o[22] = native_divide(1.0f, x);\n"
    "  o[23] = asinpi(min(x, 1.0f)) + erf(x) + tgamma(x);\n"
    "}\n"
    "__kernel void wide(__global const double4 *in, __global double4 *out) {\n"
    "  size_t i = get_global_id(0);\n"
    "  out[i] = sin(in[i]) * exp(-in[i]) + sqrt(in[i]) + pow(in[i], (double4)(2.5)) + fabs(floor(in[i] - 1.5)) + "
    "rint(in[i]);\n"
    "}\n";

enum { kCount = 200 };

int main(void) {
  static float in[kCount], out[24 * kCount];
  static double wide[4 * kCount], results[4 * kCount];
  int i, k;
  for (i = 0; i < kCount; ++i) in[i] = 0.05f + (float)(Random() % 10000) / 2500;
  for (i = 0; i < 4 * kCount; ++i) wide[i] = 0.05 + (double)(Random() % 10000) / 2500;
  OpenDevice(0);
  cl_program program = BuildSource(source, "");
  const cl_mem_flags copy = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
  cl_mem a = MakeBuffer(copy, sizeof(in), in), b = MakeBuffer(copy, sizeof(out), out);
  cl_mem c = MakeBuffer(copy, sizeof(wide), wide), d = MakeBuffer(copy, sizeof(results), results);
  cl_kernel functions = MakeKernel(program, "functions"), doubles = MakeKernel(program, "wide");
  SetBuffer(functions, 0, a);
  SetBuffer(functions, 1, b);
  SetBuffer(doubles, 0, c);
  SetBuffer(doubles, 1, d);
  Run1(functions, kCount, 0);
  Run1(doubles, kCount, 0);
  Read(b, out, sizeof(out));
  Read(d, results, sizeof(results));
  for (i = 0; i < kCount; ++i) {
    const double x = in[i];
    int exponent;
    const double fraction = frexp(x, &exponent);
    const double wanted[24] = {sin(x),
                               cos(x),
                               exp(x),
                               log(x),
                               pow(x, 1.5),
                               sqrt(x),
                               atan2(x, 2),
                               x - floor(x),
                               floor(x),
                               fraction,
                               exponent,
                               x * 8,
                               sin(x),
                               cos(x),
                               fmod(x, 0.75),
                               hypot(x, 3),
                               1 / sqrt(x),
                               exp(x) + sin(x) + sqrt(x),
                               x * x + x + 2 * x + 1,
                               cbrt(x),
                               cbrt(x) + exp2(x) + log2(x) + log10(x) + tanh(x),
                               x * x * x,
                               1 / x,
                               asin(fmin(x, 1)) / 3.14159265358979323846 + erf(x) + tgamma(x)};
    for (k = 0; k < 24; ++k) EXPECT(fabs(out[24 * i + k] - wanted[k]) <= 2e-6 * (fabs(wanted[k]) + 1));
  }
  for (i = 0; i < 4 * kCount; ++i) {
    const double x = wide[i];
    EXPECT_CLOSE(i, results[i], sin(x) * exp(-x) + sqrt(x) + pow(x, 2.5) + fabs(floor(x - 1.5)) + rint(x), 1e-12);
  }
  printf("math: %.6f %.6f %.9f\n", out[0], out[47], results[3]);
  CloseDevice();
  printf("math: passed\n");
  return 0;
}
