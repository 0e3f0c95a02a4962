// CUDA's mathematical functions and intrinsics against the host's.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "absl/strings/str_replace.h"
#include "tests/tracegen/execute/capture_fixture.h"
#include "tracegen/execute/code/special_functions.h"

namespace heddle::tracegen {
namespace {

constexpr double kInputs[] = {0.3, 0.9, 1.7, 5.25};

struct Function {
  const char* device;  // of x and y = x / 2 + 0.25, in double precision
  std::function<double(double, double)> host;
};

class MathTest : public CaptureTest {
 protected:
  // Every function in double and, with the suffix of single precision put in by the F macro, in single precision.
  void Expect(const std::vector<Function>& functions) {
    std::string source =
        "#define D(name) name\n#define S(name) name##f\n__global__ void k(double* wide, float* narrow) {\n";
    std::vector<double> expected;
    const size_t inputs = std::size(kInputs);
    source += "  const double xs[4] = {0.3, 0.9, 1.7, 5.25};\n  const int t = threadIdx.x;\n";
    source += "  { double x = xs[t], y = x / 2 + 0.25;\n";
    for (size_t i = 0; i < functions.size(); ++i) {
      absl::StrAppend(&source, "  wide[", i * inputs,
                      " + t] = ", absl::StrReplaceAll(functions[i].device, {{"F(", "D("}}), ";\n");
      for (const double x : kInputs) expected.push_back(functions[i].host(x, x / 2 + 0.25));
    }
    source += "  }\n  { float x = xs[t], y = x / 2 + 0.25f;\n";
    for (size_t i = 0; i < functions.size(); ++i) {
      absl::StrAppend(&source, "  narrow[", i * inputs,
                      " + t] = ", absl::StrReplaceAll(functions[i].device, {{"F(", "S("}}), ";\n");
    }
    source += "  }\n}\n";
    auto buffer = [&](const char* name, const char* type) {
      return absl::StrCat("buffer { name: \"", name, "\" type: ", type, " count: ", expected.size(),
                          " fill { zeros {} } }\n");
    };
    auto check = [&](const char* name, const char* tolerance) {
      return absl::StrCat("check { buffer: \"", name, "\" tolerance: ", tolerance, " expected { ", Values(expected),
                          " } }\n");
    };
    Succeeds(source, absl::StrCat(buffer("wide", "F64"), buffer("narrow", "F32"),
                                  "launch { kernel: \"k\" block { x: 4 } argument { buffer: \"wide\" } argument { "
                                  "buffer: \"narrow\" } }\n",
                                  check("wide", "1e-12"), check("narrow", "2e-5")));
  }
};

TEST_F(MathTest, FunctionsOfBothPrecisions) {
  Expect({
      {"F(sin)(x) + F(cos)(y) + F(tan)(x)", [](double x, double y) { return std::sin(x) + std::cos(y) + std::tan(x); }},
      {"F(exp)(x) + F(exp2)(y) + F(expm1)(y)",
       [](double x, double y) { return std::exp(x) + std::exp2(y) + std::expm1(y); }},
      {"F(log)(x) + F(log2)(y) + F(log1p)(x) + F(log10)(y)",
       [](double x, double y) { return std::log(x) + std::log2(y) + std::log1p(x) + std::log10(y); }},
      {"F(pow)(x, y) + F(atan2)(x, y) + F(hypot)(x, y)",
       [](double x, double y) { return std::pow(x, y) + std::atan2(x, y) + std::hypot(x, y); }},
      {"F(fmod)(x, y) + F(remainder)(x, y) + F(fdim)(x, y)",
       [](double x, double y) { return std::fmod(x, y) + std::remainder(x, y) + std::fdim(x, y); }},
      {"F(sinh)(x) + F(cosh)(y) + F(tanh)(x) + F(asinh)(y)",
       [](double x, double y) { return std::sinh(x) + std::cosh(y) + std::tanh(x) + std::asinh(y); }},
      {"F(erf)(x) + F(erfc)(y) + F(tgamma)(y) + F(lgamma)(x)",
       [](double x, double y) { return std::erf(x) + std::erfc(y) + std::tgamma(y) + std::lgamma(x); }},
      {"F(cbrt)(x) + F(rsqrt)(y) + F(rcbrt)(x) + F(rhypot)(x, y)",
       [](double x, double y) { return std::cbrt(x) + 1 / std::sqrt(y) + 1 / std::cbrt(x) + 1 / std::hypot(x, y); }},
      {"F(j0)(x) + F(j1)(y) + F(y0)(x) + F(y1)(y) + F(jn)(2, x) + F(yn)(3, y)",
       [](double x, double y) { return ::j0(x) + ::j1(y) + ::y0(x) + ::y1(y) + ::jn(2, x) + ::yn(3, y); }},
      {"F(cyl_bessel_i0)(x) + F(cyl_bessel_i1)(y)",
       [](double x, double y) { return std::cyl_bessel_i(0, x) + std::cyl_bessel_i(1, y); }},
      {"F(norm3d)(x, y, 2) + F(norm4d)(x, y, 1, 2) + F(rnorm3d)(x, y, 2) + F(rnorm4d)(x, y, 1, 2)",
       [](double x, double y) {
         const double three = std::hypot(x, y, 2), four = std::sqrt(x * x + y * y + 5);
         return three + four + 1 / three + 1 / four;
       }},
      {"F(sinpi)(x) + F(cospi)(y) + F(exp10)(y)",
       [](double x, double y) { return std::sin(M_PI * x) + std::cos(M_PI * y) + std::pow(10, y); }},
      {"F(ldexp)(x, 3) + F(scalbn)(y, -2) + F(ilogb)(x) + F(logb)(y)",
       [](double x, double y) { return 8 * x + y / 4 + std::ilogb(x) + std::logb(y); }},
      {"([&] { int e, q; auto f = F(frexp)(x, &e); auto r = F(remquo)(x, y, &q); return f + e + r + q; })()",
       [](double x, double y) {
         int e = 0, q = 0;
         const double f = std::frexp(x, &e), r = std::remquo(x, y, &q);
         return f + e + r + q;
       }},
      {"F(round)(x) + F(rint)(y) + F(floor)(x) + F(ceil)(y) + F(trunc)(x) + F(copysign)(x, -y)",
       [](double x, double y) {
         return std::round(x) + std::rint(y) + std::floor(x) + std::ceil(y) + std::trunc(x) - x;
       }},
      {"F(fmax)(x, y) - F(fmin)(x, 1) + F(fma)(x, y, x) + F(fabs)(-x)",
       [](double x, double y) { return std::fmax(x, y) - std::fmin(x, 1) + x * y + x + x; }},
      {"F(llrint)(x) + F(lround)(y) + isnan(x) + isinf(y) + (signbit(-x) ? 10 : 0)",
       [](double x, double y) { return static_cast<double>(std::llrint(x) + std::lround(y)) + 10; }},
  });
}

TEST(SpecialFunctionsTest, InversesUndoTheirFunctions) {
  for (const double x : {-0.999999, -0.7, -0.1, 0.0, 1e-8, 0.3, 0.5, 0.8, 0.99999999}) {
    EXPECT_NEAR(std::erf(ErfInverse(x)), x, 1e-15) << x;
  }
  for (const double p : {1e-100, 1e-20, 0.001, 0.3, 0.5, 1.0, 1.5, 1.9999}) {
    EXPECT_NEAR(std::erfc(ErfcInverse(p)) / p, 1, 1e-12) << p;
  }
  EXPECT_NEAR(NormCdfInverse(0.975), 1.959963984540054, 1e-14);
  for (const double x : {0.0, 1.0, 3.0, 9.9, 10.1, 26.0}) {
    EXPECT_NEAR(ErfcScaled(x) / (std::exp(x * x) * std::erfc(x)), 1, 1e-11) << x;
  }
  for (const double x : {0.1, 3.0, 29.0, 31.0, 200.0}) {
    EXPECT_NEAR(BesselI0(x) / std::cyl_bessel_i(0, x), 1, 1e-12) << x;
    EXPECT_NEAR(BesselI1(-x) / std::cyl_bessel_i(1, x), -1, 1e-12) << x;
  }
}

TEST_F(MathTest, DirectedRoundingIsOneInstruction) {
  Succeeds(R"(
__global__ void k(int* out, float x, float y, double d) {
  out[0] = __float_as_int(__fadd_rz(x, y)); out[1] = __float_as_int(__fadd_ru(x, y));
  out[2] = __float_as_int(__fmul_rd(x, 1.0f / 3)); out[3] = __float_as_int(__fdiv_ru(x, 3));
  out[4] = __float2int_rn(2.5f * x); out[5] = __float2int_ru(2.25f * x); out[6] = __double2int_rd(-d);
  out[7] = __float_as_int(__double2float_rz(d)); out[8] = __float_as_int(__uint2float_rz(0xffffffff - (unsigned)y));
  out[9] = __float_as_int(__fsub_rd(x, y)); out[10] = __float_as_int(__fmaf_rz(x, y, x));
})",
           IntRecipe(1, 1,
                     {0x3f800000, 0x3f800001, 0x3eaaaaab, 0x3eaaaaab, 2, 3, -2, 0x3f99999a - 1, 0x4f7fffff, 0x3f7fffff,
                      0x3f800000},
                     "argument { f32: 1 } argument { f32: 1e-10 } argument { f64: 1.2 }"));
}

TEST_F(MathTest, IntegersBytesAndBits) {
  const uint32_t a = 0x80ff7f01, b = 0x017f80ff;
  const auto signed_a = static_cast<int32_t>(a), signed_b = static_cast<int32_t>(b);
  const uint64_t both = uint64_t{b} << 32 | a;
  auto lanes = [&](auto operation) {
    uint32_t result = 0;
    for (int i = 0; i < 32; i += 8) {
      result |= static_cast<uint32_t>(operation(static_cast<int8_t>(a >> i), static_cast<int8_t>(b >> i)) & 255) << i;
    }
    return result;
  };
  int dot = 7;
  uint32_t difference = 0, permuted = 0, reversed = 0, halves = 0;
  for (int i = 0; i < 4; ++i) {
    dot += static_cast<int8_t>(a >> 8 * i) * static_cast<int8_t>(b >> 8 * i);
    difference +=
        static_cast<uint32_t>(std::abs(static_cast<int>(a >> 8 * i & 255) - static_cast<int>(b >> 8 * i & 255)));
    permuted |= static_cast<uint32_t>(both >> 8 * (0x3614 >> 4 * i & 7) & 255) << 8 * i;
  }
  for (int i = 0; i < 32; ++i) reversed |= (a >> i & 1) << (31 - i);
  for (int i = 0; i < 32; i += 16) halves |= (((a >> i) - (b >> i)) & 0xffff) << i;
  const std::vector<uint32_t> expected = {
      lanes([](int x, int y) { return x + y; }),
      lanes([](int x, int y) { return std::clamp(x + y, -128, 127); }),
      lanes([](int x, int y) { return std::max(x, y); }),
      lanes([](int x, int y) { return x > y ? -1 : 0; }),
      lanes([](int x, int y) { return std::abs(x - y); }),
      difference,
      static_cast<uint32_t>(dot),
      static_cast<uint32_t>(std::countl_zero(b) + std::countr_zero(b) + 1 + std::popcount(a)),
      reversed,
      permuted,
      static_cast<uint32_t>(int64_t{signed_a} * signed_b >> 32),
      static_cast<uint32_t>(uint64_t{a} * b >> 32),
      static_cast<uint32_t>(both >> 7),
      static_cast<uint32_t>((int64_t{signed_a} + signed_b) >> 1),
      static_cast<uint32_t>((uint64_t{a} + b + 1) >> 1),
      9,  // bits 0, 8 and 9 are the lowest three
      halves,
  };
  std::vector<double> values;
  for (const uint32_t value : expected) values.push_back(static_cast<int32_t>(value));
  Succeeds(R"(
__global__ void k(int* out, unsigned a, unsigned b) {
  out[0] = __vadd4(a, b); out[1] = __vaddss4(a, b); out[2] = __vmaxs4(a, b); out[3] = __vcmpgts4(a, b);
  out[4] = __vabsdiffs4(a, b); out[5] = __vsadu4(a, b); out[6] = __dp4a((int)a, (int)b, 7);
  out[7] = __clz(b) + __ffs(b) + __popc(a); out[8] = __brev(a); out[9] = __byte_perm(a, b, 0x3614);
  out[10] = __mulhi((int)a, (int)b); out[11] = __umulhi(a, b); out[12] = __funnelshift_r(a, b, 7);
  out[13] = __hadd((int)a, (int)b); out[14] = __urhadd(a, b); out[15] = __fns(a, 0, 3); out[16] = __vsub2(a, b);
})",
           IntRecipe(1, 1, values, absl::StrCat("argument { u32: ", a, " } argument { u32: ", b, " }")));
}

TEST_F(MathTest, HalvesRoundToElevenBitsAndBfloatsToEight) {
  // 2049 lies between the halves 2048 and 2050 and goes to the even one; 300 squared is no half at all. 1/3 is 0x3555
  // as half and 0x3eab as bfloat16; 257 goes to the bfloat16 256.
  Succeeds(
      R"(
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void k(int* out, float x, float y) {
  const half h = __float2half(x), one = __float2half(1.0f);
  out[0] = (int)__half2float(h + one);
  out[1] = (int)__half2float(__hadd(h, __float2half(3.0f)));
  const half2 p = __floats2half2_rn(y, 2.0f), q = __hfma2(p, p, p);
  out[2] = __hisinf(__low2half(q));
  out[3] = (int)__high2float(q);
  out[4] = __half_as_ushort(__float2half(1.0f / 3));
  out[5] = __bfloat16_as_ushort(__float2bfloat16(1.0f / 3));
  out[6] = (int)__bfloat162float(__hadd(__float2bfloat16(y - 44), __float2bfloat16(1.0f)));
  out[7] = __half_as_ushort(__float2half_rz(x + 1.9f)) - __half_as_ushort(__float2half_ru(x + 1.9f));
  out[8] = h > one && p.x != p.y && hsqrt(__float2half(16.0f)) == __float2half(4.0f);
})",
      IntRecipe(1, 1, {2048, 2052, 1, 6, 0x3555, 0x3eab, 256, -1, 1}, "argument { f32: 2048 } argument { f32: 300 }"));
}

TEST_F(MathTest, HalvesAreAddedAtomically) {
  Succeeds(R"(
#include <cuda_fp16.h>
__global__ void k(int* out) {
  __shared__ half sum;
  __shared__ half2 pair;
  if (threadIdx.x == 0) { sum = __float2half(0.0f); pair = __float2half2_rn(1.0f); }
  __syncthreads();
  atomicAdd(&sum, __float2half(0.5f));
  atomicAdd(&pair, __floats2half2_rn(1.0f, 2.0f));
  __syncthreads();
  if (threadIdx.x == 0) {
    out[0] = (int)__half2float(sum); out[1] = (int)__low2float(pair); out[2] = (int)__high2float(pair);
  }
})",
           IntRecipe(1, 32, {16, 33, 65}));
}

}  // namespace
}  // namespace heddle::tracegen
