#include "tracegen/execute/code/math_library.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "sleef.h"
#include "tracegen/execute/code/directed_rounding.h"
#include "tracegen/execute/code/half_precision.h"
#include "tracegen/execute/code/special_functions.h"

namespace heddle::tracegen {
namespace {

using rounding::Add;
using rounding::Divide;
using rounding::FromInteger;
using rounding::FusedMultiplyAdd;
using rounding::Multiply;
using rounding::Narrow;
using rounding::Reciprocal;
using rounding::Saturate;
using rounding::SquareRoot;
using rounding::Subtract;
using rounding::ToInteger;

// --- what PTX or CUDA define and the C library does not
// ------------------------------------------------------------------

float Rsqrt(float x) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x))); }
double RsqrtDouble(double x) { return 1.0 / std::sqrt(x); }
float Rcbrt(float x) { return 1.0f / Sleef_finz_cbrtf1_u10purecfma(x); }
double RcbrtDouble(double x) { return 1.0 / Sleef_finz_cbrtd1_u10purecfma(x); }
float Rhypot(float x, float y) { return 1.0f / Sleef_finz_hypotf1_u05purecfma(x, y); }
double RhypotDouble(double x, double y) { return 1.0 / Sleef_finz_hypotd1_u05purecfma(x, y); }
float PowInteger(float x, int n) { return Sleef_finz_powf1_u10purecfma(x, static_cast<float>(n)); }
double PowIntegerDouble(double x, int n) { return Sleef_finz_powd1_u10purecfma(x, n); }
float NormCdf(float x) { return 0.5f * Sleef_finz_erfcf1_u15purecfma(-x * 0.70710678118654752f); }
double NormCdfDouble(double x) { return 0.5 * Sleef_finz_erfcd1_u15purecfma(-x * 0.70710678118654752440); }
float FastDivide(float a, float b) { return a / b; }
float SaturateUnit(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }
template <typename T>
T Minimum(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <typename T>
T Maximum(T a, T b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
void SinCos(float x, float* s, float* c) {
  *s = Sleef_finz_sinf1_u10purecfma(x);
  *c = Sleef_finz_cosf1_u10purecfma(x);
}
void SinCosDouble(double x, double* s, double* c) {
  *s = Sleef_finz_sind1_u10purecfma(x);
  *c = Sleef_finz_cosd1_u10purecfma(x);
}
void SinCosPi(float x, float* s, float* c) {
  *s = Sleef_finz_sinpif1_u05purecfma(x);
  *c = Sleef_finz_cospif1_u05purecfma(x);
}
void SinCosPiDouble(double x, double* s, double* c) {
  *s = Sleef_finz_sinpid1_u05purecfma(x);
  *c = Sleef_finz_cospid1_u05purecfma(x);
}
template <typename To, typename From>
To Bits(From value) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  std::memcpy(&result, &value, sizeof(result));
  return result;
}
uint32_t ReverseBits(uint32_t x) {
  uint32_t result = 0;
  for (int i = 0; i < 32; ++i) result |= (x >> i & 1) << (31 - i);
  return result;
}
uint64_t ReverseBitsLong(uint64_t x) {
  return static_cast<uint64_t>(ReverseBits(static_cast<uint32_t>(x))) << 32 |
         ReverseBits(static_cast<uint32_t>(x >> 32));
}
int CountLeadingZeros(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
int CountLeadingZerosLong(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
uint32_t BytePermute(uint32_t a, uint32_t b, uint32_t s) {
  uint64_t both = static_cast<uint64_t>(b) << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t selector = s >> (4 * i) & 15;
    uint32_t byte = static_cast<uint32_t>(both >> (8 * (selector & 7))) & 255;
    if (selector & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << (8 * i);
  }
  return result;
}

template <typename R, typename... A>
void* Address(R (*function)(A...)) {
  return reinterpret_cast<void*>(function);
}

class Builder {
 public:
  std::vector<std::pair<std::string, void*>> table;

  void Name(const std::string& name, void* function) { table.emplace_back(name, function); }
  // __nv_STEM, __nv_STEMf, and the names that LLVM uses for its own intrinsics.
  void Both(const std::string& stem, double (*wide)(double), float (*narrow)(float), bool libm = true) {
    Pair(stem, Address(wide), Address(narrow), libm);
  }
  void Both(const std::string& stem, double (*wide)(double, double), float (*narrow)(float, float), bool libm = true) {
    Pair(stem, Address(wide), Address(narrow), libm);
  }
  void Pair(const std::string& stem, void* wide, void* narrow, bool libm) {
    Name("__nv_" + stem, wide);
    Name("__nv_" + stem + "f", narrow);
    if (libm) {
      Name(stem, wide);
      Name(stem + "f", narrow);
    }
  }

  template <int kMode>
  void Directed(const std::string& nvvm, const std::string& cuda) {
    Pair2("add", nvvm, cuda, Address(Add<double, kMode>), Address(Add<float, kMode>));
    Pair2("sub", nvvm, cuda, Address(Subtract<double, kMode>), Address(Subtract<float, kMode>));
    Pair2("mul", nvvm, cuda, Address(Multiply<double, kMode>), Address(Multiply<float, kMode>));
    Pair2("div", nvvm, cuda, Address(Divide<double, kMode>), Address(Divide<float, kMode>));
    Pair2("rcp", nvvm, cuda, Address(Reciprocal<double, kMode>), Address(Reciprocal<float, kMode>));
    Pair2("sqrt", nvvm, cuda, Address(SquareRoot<double, kMode>), Address(SquareRoot<float, kMode>));
    Name("heddle_fma_" + nvvm, Address(FusedMultiplyAdd<double, kMode>));
    Name("heddle_fma_" + nvvm + "f", Address(FusedMultiplyAdd<float, kMode>));
    Name("__nv_fma_" + cuda, Address(FusedMultiplyAdd<double, kMode>));
    Name("__nv_fmaf_" + cuda, Address(FusedMultiplyAdd<float, kMode>));
    Name("__nv_fmaf_ieee_" + cuda, Address(FusedMultiplyAdd<float, kMode>));
    Name("heddle_narrow_" + nvvm + "f", Address(Narrow<kMode>));
    Name("__nv_double2float_" + cuda, Address(Narrow<kMode>));
    Name("heddle_from_signed_" + nvvm, Address(FromInteger<double, int64_t, kMode>));
    Name("heddle_from_signed_" + nvvm + "f", Address(FromInteger<float, int64_t, kMode>));
    Name("heddle_from_unsigned_" + nvvm, Address(FromInteger<double, uint64_t, kMode>));
    Name("heddle_from_unsigned_" + nvvm + "f", Address(FromInteger<float, uint64_t, kMode>));
    Name("__nv_int2float_" + cuda, Address(FromInteger<float, int32_t, kMode>));
    Name("__nv_uint2float_" + cuda, Address(FromInteger<float, uint32_t, kMode>));
    Name("__nv_ll2float_" + cuda, Address(FromInteger<float, int64_t, kMode>));
    Name("__nv_ull2float_" + cuda, Address(FromInteger<float, uint64_t, kMode>));
    Name("__nv_ll2double_" + cuda, Address(FromInteger<double, int64_t, kMode>));
    Name("__nv_ull2double_" + cuda, Address(FromInteger<double, uint64_t, kMode>));
    Integers<float, kMode>("float", cuda);
    Integers<double, kMode>("double", cuda);
  }

 private:
  void Pair2(const std::string& stem, const std::string& nvvm, const std::string& cuda, void* wide, void* narrow) {
    Name("heddle_" + stem + "_" + nvvm, wide);
    Name("heddle_" + stem + "_" + nvvm + "f", narrow);
    Name("__nv_d" + stem + "_" + cuda, wide);
    Name("__nv_f" + stem + "_" + cuda, narrow);
  }
  template <typename From, int kMode>
  void Integers(const std::string& from, const std::string& cuda) {
    Name("__nv_" + from + "2int_" + cuda, Address(ToInteger<int32_t, From, kMode>));
    Name("__nv_" + from + "2uint_" + cuda, Address(ToInteger<uint32_t, From, kMode>));
    Name("__nv_" + from + "2ll_" + cuda, Address(ToInteger<int64_t, From, kMode>));
    Name("__nv_" + from + "2ull_" + cuda, Address(ToInteger<uint64_t, From, kMode>));
  }
};

#define HEDDLE_SLEEF(name, accuracy)                                                 \
  b.Pair(#name, reinterpret_cast<void*>(Sleef_finz_##name##d1_##accuracy##purecfma), \
         reinterpret_cast<void*>(Sleef_finz_##name##f1_##accuracy##purecfma), true)

void AddTranscendental(Builder& b) {
  HEDDLE_SLEEF(sin, u10);
  HEDDLE_SLEEF(cos, u10);
  HEDDLE_SLEEF(tan, u10);
  HEDDLE_SLEEF(asin, u10);
  HEDDLE_SLEEF(acos, u10);
  HEDDLE_SLEEF(atan, u10);
  HEDDLE_SLEEF(atan2, u10);
  HEDDLE_SLEEF(sinh, u10);
  HEDDLE_SLEEF(cosh, u10);
  HEDDLE_SLEEF(tanh, u10);
  HEDDLE_SLEEF(asinh, u10);
  HEDDLE_SLEEF(acosh, u10);
  HEDDLE_SLEEF(atanh, u10);
  HEDDLE_SLEEF(exp, u10);
  HEDDLE_SLEEF(exp2, u10);
  HEDDLE_SLEEF(exp10, u10);
  HEDDLE_SLEEF(expm1, u10);
  HEDDLE_SLEEF(log, u10);
  HEDDLE_SLEEF(log2, u10);
  HEDDLE_SLEEF(log10, u10);
  HEDDLE_SLEEF(log1p, u10);
  HEDDLE_SLEEF(pow, u10);
  HEDDLE_SLEEF(cbrt, u10);
  HEDDLE_SLEEF(hypot, u05);
  HEDDLE_SLEEF(sinpi, u05);
  HEDDLE_SLEEF(cospi, u05);
  HEDDLE_SLEEF(erf, u10);
  HEDDLE_SLEEF(erfc, u15);
  HEDDLE_SLEEF(tgamma, u10);
  HEDDLE_SLEEF(lgamma, u10);
  b.Name("__nv_rsqrtf", Address(Rsqrt));
  b.Name("__nv_frsqrt_rn", Address(Rsqrt));
  b.Name("__nv_rsqrt", Address(RsqrtDouble));
  b.Name("__nv_rcbrtf", Address(Rcbrt));
  b.Name("__nv_rcbrt", Address(RcbrtDouble));
  b.Name("__nv_rhypotf", Address(Rhypot));
  b.Name("__nv_rhypot", Address(RhypotDouble));
  b.Name("__nv_powif", Address(PowInteger));
  b.Name("__nv_powi", Address(PowIntegerDouble));
  b.Name("__nv_normcdff", Address(NormCdf));
  b.Name("__nv_normcdf", Address(NormCdfDouble));
  b.Name("__nv_sincosf", Address(SinCos));
  b.Name("__nv_sincos", Address(SinCosDouble));
  b.Name("__nv_sincospif", Address(SinCosPi));
  b.Name("__nv_sincospi", Address(SinCosPiDouble));
  b.Name("__nv_fast_sinf", reinterpret_cast<void*>(Sleef_finz_sinf1_u10purecfma));
  b.Name("__nv_fast_cosf", reinterpret_cast<void*>(Sleef_finz_cosf1_u10purecfma));
  b.Name("__nv_fast_tanf", reinterpret_cast<void*>(Sleef_finz_tanf1_u10purecfma));
  b.Name("__nv_fast_expf", reinterpret_cast<void*>(Sleef_finz_expf1_u10purecfma));
  b.Name("__nv_fast_exp10f", reinterpret_cast<void*>(Sleef_finz_exp10f1_u10purecfma));
  b.Name("__nv_fast_logf", reinterpret_cast<void*>(Sleef_finz_logf1_u10purecfma));
  b.Name("__nv_fast_log2f", reinterpret_cast<void*>(Sleef_finz_log2f1_u10purecfma));
  b.Name("__nv_fast_log10f", reinterpret_cast<void*>(Sleef_finz_log10f1_u10purecfma));
  b.Name("__nv_fast_powf", reinterpret_cast<void*>(Sleef_finz_powf1_u10purecfma));
  b.Name("__nv_fast_sincosf", Address(SinCos));
  b.Name("__nv_fast_fdividef", Address(FastDivide));
}

// A function of doubles as both forms of a CUDA function.
template <double (*kFunction)(double)>
float Narrowed(float x) {
  return static_cast<float>(kFunction(x));
}
template <double (*kFunction)(double)>
void AddNarrowed(Builder& b, const std::string& stem) {
  b.Both(stem, kFunction, Narrowed<kFunction>, false);
}

double Norm3(double x, double y, double z) {
  return Sleef_finz_hypotd1_u05purecfma(Sleef_finz_hypotd1_u05purecfma(x, y), z);
}
double Norm4(double x, double y, double z, double w) { return Sleef_finz_hypotd1_u05purecfma(Norm3(x, y, z), w); }
template <typename T>
int FrexpExponent(T x) {
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::isfinite(x) ? exponent : 0;
}
template <typename T>
T FrexpFraction(T x) {
  int exponent = 0;
  return std::frexp(x, &exponent);
}
template <typename T>
int RemquoQuotient(T x, T y) {
  int quotient = 0;
  std::remquo(x, y, &quotient);
  return quotient;
}

void AddSpecial(Builder& b) {
  AddNarrowed<ErfInverse>(b, "erfinv");
  AddNarrowed<ErfcInverse>(b, "erfcinv");
  AddNarrowed<NormCdfInverse>(b, "normcdfinv");
  AddNarrowed<ErfcScaled>(b, "erfcx");
  AddNarrowed<BesselI0>(b, "cyl_bessel_i0");
  AddNarrowed<BesselI1>(b, "cyl_bessel_i1");
  AddNarrowed<::j0>(b, "j0");
  AddNarrowed<::j1>(b, "j1");
  AddNarrowed<::y0>(b, "y0");
  AddNarrowed<::y1>(b, "y1");
  b.Name("__nv_jn", Address(+[](int n, double x) { return ::jn(n, x); }));
  b.Name("__nv_jnf", Address(+[](int n, float x) { return static_cast<float>(::jn(n, x)); }));
  b.Name("__nv_yn", Address(+[](int n, double x) { return ::yn(n, x); }));
  b.Name("__nv_ynf", Address(+[](int n, float x) { return static_cast<float>(::yn(n, x)); }));
  b.Name("__nv_norm3d", Address(Norm3));
  b.Name("__nv_norm3df", Address(+[](float x, float y, float z) { return static_cast<float>(Norm3(x, y, z)); }));
  b.Name("__nv_norm4d", Address(Norm4));
  b.Name("__nv_norm4df",
         Address(+[](float x, float y, float z, float w) { return static_cast<float>(Norm4(x, y, z, w)); }));
  b.Name("__nv_rnorm3d", Address(+[](double x, double y, double z) { return 1 / Norm3(x, y, z); }));
  b.Name("__nv_rnorm3df", Address(+[](float x, float y, float z) { return static_cast<float>(1 / Norm3(x, y, z)); }));
  b.Name("__nv_rnorm4d", Address(+[](double x, double y, double z, double w) { return 1 / Norm4(x, y, z, w); }));
  b.Name("__nv_rnorm4df",
         Address(+[](float x, float y, float z, float w) { return static_cast<float>(1 / Norm4(x, y, z, w)); }));
  b.Name("__nv_frexp_exponent", Address(FrexpExponent<double>));
  b.Name("__nv_frexp_exponentf", Address(FrexpExponent<float>));
  b.Name("__nv_frexp_fraction", Address(FrexpFraction<double>));
  b.Name("__nv_frexp_fractionf", Address(FrexpFraction<float>));
  b.Name("__nv_remquo_quotient", Address(RemquoQuotient<double>));
  b.Name("__nv_remquo_quotientf", Address(RemquoQuotient<float>));
}

// Operations whose result IEEE 754 fixes: any library computes the same.
void AddExact(Builder& b) {
  using Wide = double (*)(double);
  using Narrow1 = float (*)(float);
  using Wide2 = double (*)(double, double);
  using Narrow2 = float (*)(float, float);
  b.Both("fmod", static_cast<Wide2>(std::fmod), static_cast<Narrow2>(std::fmod));
  b.Both("remainder", static_cast<Wide2>(std::remainder), static_cast<Narrow2>(std::remainder));
  b.Both("nextafter", static_cast<Wide2>(std::nextafter), static_cast<Narrow2>(std::nextafter));
  b.Both("fdim", static_cast<Wide2>(std::fdim), static_cast<Narrow2>(std::fdim));
  b.Both("copysign", static_cast<Wide2>(std::copysign), static_cast<Narrow2>(std::copysign));
  b.Both("fmin", Minimum<double>, Minimum<float>);
  b.Both("fmax", Maximum<double>, Maximum<float>);
  b.Both("fabs", static_cast<Wide>(std::fabs), static_cast<Narrow1>(std::fabs));
  b.Both("floor", static_cast<Wide>(std::floor), static_cast<Narrow1>(std::floor));
  b.Both("ceil", static_cast<Wide>(std::ceil), static_cast<Narrow1>(std::ceil));
  b.Both("trunc", static_cast<Wide>(std::trunc), static_cast<Narrow1>(std::trunc));
  b.Both("round", static_cast<Wide>(std::round), static_cast<Narrow1>(std::round));
  b.Both("rint", static_cast<Wide>(std::rint), static_cast<Narrow1>(std::rint));
  b.Both("nearbyint", static_cast<Wide>(std::nearbyint), static_cast<Narrow1>(std::nearbyint));
  b.Both("sqrt", static_cast<Wide>(std::sqrt), static_cast<Narrow1>(std::sqrt));
  b.Both("logb", static_cast<Wide>(std::logb), static_cast<Narrow1>(std::logb));
  b.Pair("fma", Address(static_cast<double (*)(double, double, double)>(std::fma)),
         Address(static_cast<float (*)(float, float, float)>(std::fma)), true);
  b.Pair("ldexp", Address(static_cast<double (*)(double, int)>(std::ldexp)),
         Address(static_cast<float (*)(float, int)>(std::ldexp)), true);
  b.Pair("scalbn", Address(static_cast<double (*)(double, int)>(std::scalbn)),
         Address(static_cast<float (*)(float, int)>(std::scalbn)), true);
  b.Pair("ilogb", Address(static_cast<int (*)(double)>(std::ilogb)), Address(static_cast<int (*)(float)>(std::ilogb)),
         true);
  b.Pair("frexp", Address(static_cast<double (*)(double, int*)>(std::frexp)),
         Address(static_cast<float (*)(float, int*)>(std::frexp)), true);
  b.Pair("modf", Address(static_cast<double (*)(double, double*)>(std::modf)),
         Address(static_cast<float (*)(float, float*)>(std::modf)), true);
  b.Pair("llrint", Address(ToInteger<int64_t, double, FE_TONEAREST>), Address(ToInteger<int64_t, float, FE_TONEAREST>),
         false);
  b.Pair("llround", Address(+[](double x) { return Saturate<int64_t>(std::round(x)); }),
         Address(+[](float x) { return Saturate<int64_t>(std::round(x)); }), false);
  b.Name("__nv_saturatef", Address(SaturateUnit));
  b.Name("__nv_half2float", Address(HalfToFloat));
  b.Name("__nv_float2half_rn", Address(FloatToHalf));
  b.Name("__nv_int2double_rn", Address(FromInteger<double, int32_t, FE_TONEAREST>));
  b.Name("__nv_uint2double_rn", Address(FromInteger<double, uint32_t, FE_TONEAREST>));
  b.Name("__nv_isnanf", Address(+[](float x) { return static_cast<int>(std::isnan(x)); }));
  b.Name("__nv_isnand", Address(+[](double x) { return static_cast<int>(std::isnan(x)); }));
  b.Name("__nv_isinff", Address(+[](float x) { return static_cast<int>(std::isinf(x)); }));
  b.Name("__nv_isinfd", Address(+[](double x) { return static_cast<int>(std::isinf(x)); }));
  b.Name("__nv_finitef", Address(+[](float x) { return static_cast<int>(std::isfinite(x)); }));
  b.Name("__nv_isfinited", Address(+[](double x) { return static_cast<int>(std::isfinite(x)); }));
  b.Name("__nv_signbitf", Address(+[](float x) { return static_cast<int>(std::signbit(x)); }));
  b.Name("__nv_signbitd", Address(+[](double x) { return static_cast<int>(std::signbit(x)); }));
  b.Name("__nv_float_as_int", Address(Bits<int32_t, float>));
  b.Name("__nv_float_as_uint", Address(Bits<uint32_t, float>));
  b.Name("__nv_int_as_float", Address(Bits<float, int32_t>));
  b.Name("__nv_uint_as_float", Address(Bits<float, uint32_t>));
  b.Name("__nv_double_as_longlong", Address(Bits<int64_t, double>));
  b.Name("__nv_longlong_as_double", Address(Bits<double, int64_t>));
  b.Name("__nv_double2loint", Address(+[](double x) { return static_cast<int>(Bits<int64_t>(x)); }));
  b.Name("__nv_double2hiint", Address(+[](double x) { return static_cast<int>(Bits<int64_t>(x) >> 32); }));
  b.Name("__nv_hiloint2double", Address(+[](int hi, int lo) {
           return Bits<double>(static_cast<int64_t>(hi) << 32 | static_cast<uint32_t>(lo));
         }));
}

void AddInteger(Builder& b) {
  using U = uint32_t;
  using UL = unsigned long long;
  using L = long long;
  b.Name("__nv_abs",
         Address(+[](int x) { return static_cast<int>(x < 0 ? 0u - static_cast<U>(x) : static_cast<U>(x)); }));
  b.Name("__nv_llabs",
         Address(+[](L x) { return static_cast<L>(x < 0 ? 0ull - static_cast<UL>(x) : static_cast<UL>(x)); }));
  b.Name("__nv_min", Address(+[](int x, int y) { return x < y ? x : y; }));
  b.Name("__nv_max", Address(+[](int x, int y) { return x > y ? x : y; }));
  b.Name("__nv_umin", Address(+[](U x, U y) { return x < y ? x : y; }));
  b.Name("__nv_umax", Address(+[](U x, U y) { return x > y ? x : y; }));
  b.Name("__nv_llmin", Address(+[](L x, L y) { return x < y ? x : y; }));
  b.Name("__nv_llmax", Address(+[](L x, L y) { return x > y ? x : y; }));
  b.Name("__nv_ullmin", Address(+[](UL x, UL y) { return x < y ? x : y; }));
  b.Name("__nv_ullmax", Address(+[](UL x, UL y) { return x > y ? x : y; }));
  b.Name("__nv_popc", Address(+[](int x) { return __builtin_popcount(static_cast<U>(x)); }));
  b.Name("__nv_popcll", Address(+[](L x) { return __builtin_popcountll(static_cast<UL>(x)); }));
  b.Name("__nv_clz", Address(CountLeadingZeros));
  b.Name("__nv_clzll", Address(CountLeadingZerosLong));
  b.Name("__nv_ffs", Address(+[](int x) { return __builtin_ffs(x); }));
  b.Name("__nv_ffsll", Address(+[](L x) { return __builtin_ffsll(x); }));
  b.Name("__nv_brev", Address(ReverseBits));
  b.Name("__nv_brevll", Address(ReverseBitsLong));
  b.Name("__nv_byte_perm", Address(BytePermute));
  b.Name("__nv_mulhi", Address(+[](int x, int y) { return static_cast<int>(static_cast<int64_t>(x) * y >> 32); }));
  b.Name("__nv_umulhi", Address(+[](U x, U y) { return static_cast<U>(static_cast<uint64_t>(x) * y >> 32); }));
  b.Name("__nv_mul64hi", Address(+[](L x, L y) { return static_cast<L>(static_cast<__int128>(x) * y >> 64); }));
  b.Name("__nv_umul64hi",
         Address(+[](UL x, UL y) { return static_cast<UL>(static_cast<unsigned __int128>(x) * y >> 64); }));
  b.Name("__nv_mul24", Address(+[](int x, int y) {
           return static_cast<int>(static_cast<U>((x << 8) >> 8) * static_cast<U>((y << 8) >> 8));
         }));
  b.Name("__nv_umul24", Address(+[](U x, U y) { return (x & 0xffffff) * (y & 0xffffff); }));
  b.Name(
      "__nv_sad", Address(+[](int x, int y, U z) {
        return static_cast<U>(x < y ? static_cast<U>(y) - static_cast<U>(x) : static_cast<U>(x) - static_cast<U>(y)) +
               z;
      }));
  b.Name("__nv_usad", Address(+[](U x, U y, U z) { return (x < y ? y - x : x - y) + z; }));
  b.Name("__nv_hadd", Address(+[](int x, int y) { return static_cast<int>((static_cast<int64_t>(x) + y) >> 1); }));
  b.Name("__nv_rhadd", Address(+[](int x, int y) { return static_cast<int>((static_cast<int64_t>(x) + y + 1) >> 1); }));
  b.Name("__nv_uhadd", Address(+[](U x, U y) { return static_cast<U>((static_cast<uint64_t>(x) + y) >> 1); }));
  b.Name("__nv_urhadd", Address(+[](U x, U y) { return static_cast<U>((static_cast<uint64_t>(x) + y + 1) >> 1); }));
}

std::vector<std::pair<std::string, void*>> Build() {
  Builder b;
  AddTranscendental(b);
  AddSpecial(b);
  AddExact(b);
  AddInteger(b);
  b.Directed<FE_TONEAREST>("rn", "rn");
  b.Directed<FE_TOWARDZERO>("rz", "rz");
  b.Directed<FE_DOWNWARD>("rm", "rd");
  b.Directed<FE_UPWARD>("rp", "ru");
  b.Name("memcpy", Address(static_cast<void* (*)(void*, const void*, size_t)>(std::memcpy)));
  b.Name("memmove", Address(static_cast<void* (*)(void*, const void*, size_t)>(std::memmove)));
  b.Name("memset", Address(static_cast<void* (*)(void*, int, size_t)>(std::memset)));
  return b.table;
}

}  // namespace

const std::vector<std::pair<std::string, void*>>& MathLibrary() {
  static const auto& table = *new std::vector<std::pair<std::string, void*>>(Build());
  return table;
}

}  // namespace heddle::tracegen
