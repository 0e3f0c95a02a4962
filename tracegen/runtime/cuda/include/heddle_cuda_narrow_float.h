// What half precision and bfloat16 have in common: everything that their own arithmetic and conversions suffice for.
// Included by heddle_cuda_half.h and heddle_cuda_bfloat16.h, once for each, between the definitions of
//   HEDDLE_T, HEDDLE_T2           the type and its pair
//   HEDDLE_RAW                    the structure of its bits
//   HEDDLE_INFINITE               the bits of infinity
//   HEDDLE_NAMED(before, after)   the name of a conversion: before##half##after
// and of these functions: __hadd __hsub __hmul __hdiv __hfma heddle_less heddle_less_equal heddle_equal of numbers,
// heddle_pair_add heddle_pair_sub heddle_pair_mul heddle_pair_div of pairs.

// --- bits

HEDDLE_BOTH bool __hisnan(HEDDLE_T x) { return (x.__x & 0x7fff) > HEDDLE_INFINITE; }
HEDDLE_BOTH int __hisinf(HEDDLE_T x) { return (x.__x & 0x7fff) != HEDDLE_INFINITE ? 0 : x.__x >> 15 ? -1 : 1; }
HEDDLE_BOTH HEDDLE_T __hneg(HEDDLE_T x) { return HEDDLE_RAW{static_cast<unsigned short>(x.__x ^ 0x8000)}; }
HEDDLE_BOTH HEDDLE_T __habs(HEDDLE_T x) { return HEDDLE_RAW{static_cast<unsigned short>(x.__x & 0x7fff)}; }
HEDDLE_BOTH HEDDLE_T2 __hneg2(HEDDLE_T2 x) { return HEDDLE_T2(__hneg(x.x), __hneg(x.y)); }
HEDDLE_BOTH HEDDLE_T2 __habs2(HEDDLE_T2 x) { return HEDDLE_T2(__habs(x.x), __habs(x.y)); }
HEDDLE_BOTH HEDDLE_T2 __lowhigh2highlow(HEDDLE_T2 x) { return HEDDLE_T2(x.y, x.x); }
HEDDLE_BOTH float __low2float(HEDDLE_T2 x) { return static_cast<float>(x.x); }
HEDDLE_BOTH float __high2float(HEDDLE_T2 x) { return static_cast<float>(x.y); }

// --- comparisons: ordered ones are false if an operand is not a number, unordered ones (u) are true

HEDDLE_BOTH bool __heq(HEDDLE_T x, HEDDLE_T y) { return heddle_equal(x, y); }
HEDDLE_BOTH bool __hlt(HEDDLE_T x, HEDDLE_T y) { return heddle_less(x, y); }
HEDDLE_BOTH bool __hgt(HEDDLE_T x, HEDDLE_T y) { return heddle_less(y, x); }
HEDDLE_BOTH bool __hle(HEDDLE_T x, HEDDLE_T y) { return heddle_less_equal(x, y); }
HEDDLE_BOTH bool __hge(HEDDLE_T x, HEDDLE_T y) { return heddle_less_equal(y, x); }
HEDDLE_BOTH bool __hne(HEDDLE_T x, HEDDLE_T y) { return heddle_less(x, y) || heddle_less(y, x); }
HEDDLE_BOTH bool __hneu(HEDDLE_T x, HEDDLE_T y) { return !__heq(x, y); }
HEDDLE_BOTH bool __hequ(HEDDLE_T x, HEDDLE_T y) { return !__hne(x, y); }
HEDDLE_BOTH bool __hltu(HEDDLE_T x, HEDDLE_T y) { return !__hge(x, y); }
HEDDLE_BOTH bool __hleu(HEDDLE_T x, HEDDLE_T y) { return !__hgt(x, y); }
HEDDLE_BOTH bool __hgtu(HEDDLE_T x, HEDDLE_T y) { return !__hle(x, y); }
HEDDLE_BOTH bool __hgeu(HEDDLE_T x, HEDDLE_T y) { return !__hlt(x, y); }
// Of pairs: 1 or 0 for each, whether both hold, and all ones or zeroes for each.
#define HEDDLE_COMPARE(name)                                                                                      \
  HEDDLE_BOTH HEDDLE_T2 __h##name##2(HEDDLE_T2 x, HEDDLE_T2 y) {                                                  \
    return HEDDLE_T2(HEDDLE_T(__h##name(x.x, y.x) ? 1.0f : 0.0f), HEDDLE_T(__h##name(x.y, y.y) ? 1.0f : 0.0f));   \
  }                                                                                                               \
  HEDDLE_BOTH bool __hb##name##2(HEDDLE_T2 x, HEDDLE_T2 y) { return __h##name(x.x, y.x) && __h##name(x.y, y.y); } \
  HEDDLE_BOTH unsigned int __h##name##2_mask(HEDDLE_T2 x, HEDDLE_T2 y) {                                          \
    return (__h##name(x.x, y.x) ? 0xffffu : 0u) | (__h##name(x.y, y.y) ? 0xffff0000u : 0u);                       \
  }
HEDDLE_COMPARE(eq)
HEDDLE_COMPARE(ne)
HEDDLE_COMPARE(lt)
HEDDLE_COMPARE(le)
HEDDLE_COMPARE(gt)
HEDDLE_COMPARE(ge)
HEDDLE_COMPARE(equ)
HEDDLE_COMPARE(neu)
HEDDLE_COMPARE(ltu)
HEDDLE_COMPARE(leu)
HEDDLE_COMPARE(gtu)
HEDDLE_COMPARE(geu)
#undef HEDDLE_COMPARE
#define HEDDLE_COMPARISON(symbol, name)                                                              \
  HEDDLE_BOTH bool operator symbol(const HEDDLE_T& x, const HEDDLE_T& y) { return __h##name(x, y); } \
  HEDDLE_BOTH bool operator symbol(const HEDDLE_T2& x, const HEDDLE_T2& y) { return __hb##name##2(x, y); }
HEDDLE_COMPARISON(==, eq)
HEDDLE_COMPARISON(!=, neu)
HEDDLE_COMPARISON(<, lt)
HEDDLE_COMPARISON(<=, le)
HEDDLE_COMPARISON(>, gt)
HEDDLE_COMPARISON(>=, ge)
#undef HEDDLE_COMPARISON
HEDDLE_BOTH HEDDLE_T2 __hisnan2(HEDDLE_T2 x) {
  return HEDDLE_T2(HEDDLE_T(__hisnan(x.x) ? 1.0f : 0.0f), HEDDLE_T(__hisnan(x.y) ? 1.0f : 0.0f));
}

// The larger and the smaller number, the positive one of two zeroes larger. What is not a number is left out, but for
// the versions that keep it.
HEDDLE_BOTH HEDDLE_T heddle_not_a_number(HEDDLE_T) { return HEDDLE_RAW{0x7fff}; }
HEDDLE_BOTH HEDDLE_T __hmax_nan(HEDDLE_T x, HEDDLE_T y) {
  if (__hisnan(x) || __hisnan(y)) return heddle_not_a_number(x);
  return __hgt(x, y) ? x : __hgt(y, x) ? y : HEDDLE_T(HEDDLE_RAW{static_cast<unsigned short>(x.__x & y.__x)});
}
HEDDLE_BOTH HEDDLE_T __hmin_nan(HEDDLE_T x, HEDDLE_T y) {
  if (__hisnan(x) || __hisnan(y)) return heddle_not_a_number(x);
  return __hlt(x, y) ? x : __hlt(y, x) ? y : HEDDLE_T(HEDDLE_RAW{static_cast<unsigned short>(x.__x | y.__x)});
}
HEDDLE_BOTH HEDDLE_T __hmax(HEDDLE_T x, HEDDLE_T y) {
  return !__hisnan(x) && __hisnan(y) ? x : __hisnan(x) && !__hisnan(y) ? y : __hmax_nan(x, y);
}
HEDDLE_BOTH HEDDLE_T __hmin(HEDDLE_T x, HEDDLE_T y) {
  return !__hisnan(x) && __hisnan(y) ? x : __hisnan(x) && !__hisnan(y) ? y : __hmin_nan(x, y);
}
#define HEDDLE_PAIR(pair, name) \
  HEDDLE_BOTH HEDDLE_T2 pair(HEDDLE_T2 x, HEDDLE_T2 y) { return HEDDLE_T2(name(x.x, y.x), name(x.y, y.y)); }
HEDDLE_PAIR(__hmax2, __hmax)
HEDDLE_PAIR(__hmin2, __hmin)
HEDDLE_PAIR(__hmax2_nan, __hmax_nan)
HEDDLE_PAIR(__hmin2_nan, __hmin_nan)

// --- arithmetic

HEDDLE_BOTH HEDDLE_T2 __hadd2(HEDDLE_T2 x, HEDDLE_T2 y) { return heddle_pair_add(x, y); }
HEDDLE_BOTH HEDDLE_T2 __hsub2(HEDDLE_T2 x, HEDDLE_T2 y) { return heddle_pair_sub(x, y); }
HEDDLE_BOTH HEDDLE_T2 __hmul2(HEDDLE_T2 x, HEDDLE_T2 y) { return heddle_pair_mul(x, y); }
HEDDLE_BOTH HEDDLE_T2 __h2div(HEDDLE_T2 x, HEDDLE_T2 y) { return heddle_pair_div(x, y); }
HEDDLE_BOTH HEDDLE_T hdiv(HEDDLE_T x, HEDDLE_T y) { return __hdiv(x, y); }
// _rn: never contracted with an addition or a multiplication around, which is not done here at all.
#define HEDDLE_UNCONTRACTED(name)                                                         \
  HEDDLE_BOTH HEDDLE_T __h##name##_rn(HEDDLE_T x, HEDDLE_T y) { return __h##name(x, y); } \
  HEDDLE_BOTH HEDDLE_T2 __h##name##2_rn(HEDDLE_T2 x, HEDDLE_T2 y) { return __h##name##2(x, y); }
HEDDLE_UNCONTRACTED(add)
HEDDLE_UNCONTRACTED(sub)
HEDDLE_UNCONTRACTED(mul)
#undef HEDDLE_UNCONTRACTED
#define HEDDLE_OPERATOR(symbol, name, pair)                                                             \
  HEDDLE_BOTH HEDDLE_T operator symbol(const HEDDLE_T& x, const HEDDLE_T& y) { return name(x, y); }     \
  HEDDLE_BOTH HEDDLE_T2 operator symbol(const HEDDLE_T2& x, const HEDDLE_T2& y) { return pair(x, y); }  \
  HEDDLE_BOTH HEDDLE_T& operator symbol##=(HEDDLE_T & x, const HEDDLE_T & y) { return x = name(x, y); } \
  HEDDLE_BOTH HEDDLE_T2& operator symbol##=(HEDDLE_T2 & x, const HEDDLE_T2 & y) { return x = pair(x, y); }
HEDDLE_OPERATOR(+, __hadd, __hadd2)
HEDDLE_OPERATOR(-, __hsub, __hsub2)
HEDDLE_OPERATOR(*, __hmul, __hmul2)
HEDDLE_OPERATOR(/, __hdiv, __h2div)
#undef HEDDLE_OPERATOR
HEDDLE_BOTH HEDDLE_T operator-(const HEDDLE_T& x) { return __hneg(x); }
HEDDLE_BOTH HEDDLE_T operator+(const HEDDLE_T& x) { return x; }
HEDDLE_BOTH HEDDLE_T2 operator-(const HEDDLE_T2& x) { return __hneg2(x); }
HEDDLE_BOTH HEDDLE_T2 operator+(const HEDDLE_T2& x) { return x; }
#define HEDDLE_STEP(type, symbol, one)                                             \
  HEDDLE_BOTH type& operator symbol##symbol(type & x) { return x = x symbol one; } \
  HEDDLE_BOTH type operator symbol##symbol(type& x, int) {                         \
    const type before = x;                                                         \
    x = x symbol one;                                                              \
    return before;                                                                 \
  }
HEDDLE_STEP(HEDDLE_T, +, HEDDLE_T(1.0f))
HEDDLE_STEP(HEDDLE_T, -, HEDDLE_T(1.0f))
HEDDLE_STEP(HEDDLE_T2, +, HEDDLE_T2(HEDDLE_T(1.0f), HEDDLE_T(1.0f)))
HEDDLE_STEP(HEDDLE_T2, -, HEDDLE_T2(HEDDLE_T(1.0f), HEDDLE_T(1.0f)))
#undef HEDDLE_STEP

// Between 0 and 1; what is not a number becomes 0.
HEDDLE_BOTH HEDDLE_T heddle_saturate(HEDDLE_T x) {
  const float value = static_cast<float>(x);
  return HEDDLE_T(value > 0.0f ? value < 1.0f ? value : 1.0f : 0.0f);
}
// Negative numbers become 0; what is not a number stays so.
HEDDLE_BOTH HEDDLE_T heddle_relu(HEDDLE_T x) { return __hmax_nan(x, HEDDLE_T(0.0f)); }
HEDDLE_BOTH HEDDLE_T __hadd_sat(HEDDLE_T x, HEDDLE_T y) { return heddle_saturate(__hadd(x, y)); }
HEDDLE_BOTH HEDDLE_T __hsub_sat(HEDDLE_T x, HEDDLE_T y) { return heddle_saturate(__hsub(x, y)); }
HEDDLE_BOTH HEDDLE_T __hmul_sat(HEDDLE_T x, HEDDLE_T y) { return heddle_saturate(__hmul(x, y)); }
HEDDLE_PAIR(__hadd2_sat, __hadd_sat)
HEDDLE_PAIR(__hsub2_sat, __hsub_sat)
HEDDLE_PAIR(__hmul2_sat, __hmul_sat)
#undef HEDDLE_PAIR
HEDDLE_DEVICE HEDDLE_T __hfma_sat(HEDDLE_T x, HEDDLE_T y, HEDDLE_T z) { return heddle_saturate(__hfma(x, y, z)); }
HEDDLE_DEVICE HEDDLE_T __hfma_relu(HEDDLE_T x, HEDDLE_T y, HEDDLE_T z) { return heddle_relu(__hfma(x, y, z)); }
#define HEDDLE_FMA_PAIR(pair, name)                                     \
  HEDDLE_DEVICE HEDDLE_T2 pair(HEDDLE_T2 x, HEDDLE_T2 y, HEDDLE_T2 z) { \
    return HEDDLE_T2(name(x.x, y.x, z.x), name(x.y, y.y, z.y));         \
  }
HEDDLE_FMA_PAIR(__hfma2, __hfma)
HEDDLE_FMA_PAIR(__hfma2_sat, __hfma_sat)
HEDDLE_FMA_PAIR(__hfma2_relu, __hfma_relu)
#undef HEDDLE_FMA_PAIR
// Complex numbers, the real part low: x * y + z.
HEDDLE_DEVICE HEDDLE_T2 __hcmadd(HEDDLE_T2 x, HEDDLE_T2 y, HEDDLE_T2 z) {
  return HEDDLE_T2(__hfma(__hneg(x.y), y.y, __hfma(x.x, y.x, z.x)), __hfma(x.y, y.x, __hfma(x.x, y.y, z.y)));
}

// --- mathematics in single precision, rounded once more

#define HEDDLE_MATH(name, result)                   \
  HEDDLE_DEVICE HEDDLE_T h##name(HEDDLE_T number) { \
    const float x = static_cast<float>(number);     \
    return HEDDLE_T(result);                        \
  }                                                 \
  HEDDLE_DEVICE HEDDLE_T2 h2##name(HEDDLE_T2 x) { return HEDDLE_T2(h##name(x.x), h##name(x.y)); }
HEDDLE_MATH(sqrt, sqrtf(x))
HEDDLE_MATH(rsqrt, rsqrtf(x))
HEDDLE_MATH(rcp, 1.0f / x)
HEDDLE_MATH(exp, expf(x))
HEDDLE_MATH(exp2, exp2f(x))
HEDDLE_MATH(exp10, exp10f(x))
HEDDLE_MATH(log, logf(x))
HEDDLE_MATH(log2, log2f(x))
HEDDLE_MATH(log10, log10f(x))
HEDDLE_MATH(sin, sinf(x))
HEDDLE_MATH(cos, cosf(x))
HEDDLE_MATH(tanh, tanhf(x))
HEDDLE_MATH(tanh_approx, tanhf(x))
HEDDLE_MATH(floor, floorf(x))
HEDDLE_MATH(ceil, ceilf(x))
HEDDLE_MATH(trunc, truncf(x))
HEDDLE_MATH(rint, rintf(x))
#undef HEDDLE_MATH

// --- conversions

// Toward zero, down and up: the nearest number, moved by one step where it lies on the wrong side.
HEDDLE_BOTH HEDDLE_T HEDDLE_NAMED(heddle_, _step)(HEDDLE_T x, bool away) {
  return HEDDLE_RAW{static_cast<unsigned short>(away ? x.__x + 1 : x.__x - 1)};
}
#define HEDDLE_DIRECTED(type, absolute)                                                                         \
  HEDDLE_BOTH HEDDLE_T HEDDLE_NAMED(heddle_##type##_to_, _rn)(type x) { return HEDDLE_T(x); }                   \
  HEDDLE_BOTH HEDDLE_T HEDDLE_NAMED(heddle_##type##_to_, _rz)(type x) {                                         \
    const HEDDLE_T near = HEDDLE_T(x);                                                                          \
    return absolute(static_cast<float>(near)) > absolute(x) ? HEDDLE_NAMED(heddle_, _step)(near, false) : near; \
  }                                                                                                             \
  HEDDLE_BOTH HEDDLE_T HEDDLE_NAMED(heddle_##type##_to_, _rd)(type x) {                                         \
    const HEDDLE_T toward = HEDDLE_NAMED(heddle_##type##_to_, _rz)(x);                                          \
    return static_cast<float>(toward) > x ? HEDDLE_NAMED(heddle_, _step)(toward, true) : toward;                \
  }                                                                                                             \
  HEDDLE_BOTH HEDDLE_T HEDDLE_NAMED(heddle_##type##_to_, _ru)(type x) {                                         \
    const HEDDLE_T toward = HEDDLE_NAMED(heddle_##type##_to_, _rz)(x);                                          \
    return static_cast<float>(toward) < x ? HEDDLE_NAMED(heddle_, _step)(toward, true) : toward;                \
  }
HEDDLE_DIRECTED(float, __builtin_fabsf)
HEDDLE_DIRECTED(double, __builtin_fabs)
#undef HEDDLE_DIRECTED
HEDDLE_BOTH HEDDLE_T HEDDLE_NAMED(__float2, )(float x) { return HEDDLE_T(x); }
HEDDLE_BOTH HEDDLE_T HEDDLE_NAMED(__double2, )(double x) { return HEDDLE_T(x); }
#define HEDDLE_FROM(name, type, round, source, value)                \
  HEDDLE_BOTH HEDDLE_T HEDDLE_NAMED(__##name##2, _##round)(type x) { \
    return HEDDLE_NAMED(heddle_##source##_to_, _##round)(value);     \
  }
#define HEDDLE_FROM_ALL(round)                                         \
  HEDDLE_FROM(float, float, round, float, x)                           \
  HEDDLE_FROM(short, short, round, float, x)                           \
  HEDDLE_FROM(ushort, unsigned short, round, float, x)                 \
  HEDDLE_FROM(int, int, round, double, x)                              \
  HEDDLE_FROM(uint, unsigned int, round, double, x)                    \
  HEDDLE_FROM(ll, long long, round, double, heddle_double_of_whole(x)) \
  HEDDLE_FROM(ull, unsigned long long, round, double, heddle_double_of_whole(x))
HEDDLE_FROM_ALL(rn)
HEDDLE_FROM_ALL(rz)
HEDDLE_FROM_ALL(rd)
HEDDLE_FROM_ALL(ru)
#undef HEDDLE_FROM_ALL
#undef HEDDLE_FROM

// Whole numbers of a type that saturates; what is not a number becomes 0, or the lowest number of 64 bits.
#define HEDDLE_TO(name, type, round, value) \
  HEDDLE_DEVICE type HEDDLE_NAMED(__, 2##name##_##round)(HEDDLE_T x) { return static_cast<type>(value); }
#define HEDDLE_TO_ALL(round)                                                                                   \
  HEDDLE_TO(short, short, round, heddle_clamp(__float2int_##round(static_cast<float>(x)), -32768, 32767))      \
  HEDDLE_TO(ushort, unsigned short, round, heddle_clamp(__float2int_##round(static_cast<float>(x)), 0, 65535)) \
  HEDDLE_TO(int, int, round, __float2int_##round(static_cast<float>(x)))                                       \
  HEDDLE_TO(uint, unsigned int, round, __float2uint_##round(static_cast<float>(x)))                            \
  HEDDLE_TO(ll, long long, round, __float2ll_##round(static_cast<float>(x)))                                   \
  HEDDLE_TO(ull, unsigned long long, round, __float2ull_##round(static_cast<float>(x)))
HEDDLE_TO_ALL(rn)
HEDDLE_TO_ALL(rd)
HEDDLE_TO_ALL(ru)
HEDDLE_TO_ALL(rz)
#undef HEDDLE_TO_ALL
HEDDLE_TO(char, signed char, rz, heddle_clamp(__float2int_rz(static_cast<float>(x)), -128, 127))
HEDDLE_TO(uchar, unsigned char, rz, heddle_clamp(__float2int_rz(static_cast<float>(x)), 0, 255))
#undef HEDDLE_TO
// The same on the host, where rounding toward zero is what there is.
#define HEDDLE_HOST_TO(name, type, low, high, none)                                  \
  static inline __host__ type HEDDLE_NAMED(__, 2##name##_rz)(HEDDLE_T number) {      \
    const float x = static_cast<float>(number);                                      \
    return x != x ? none : x <= low ? low : x >= high ? high : static_cast<type>(x); \
  }
HEDDLE_HOST_TO(char, signed char, -128, 127, 0)
HEDDLE_HOST_TO(uchar, unsigned char, 0, 255, 0)
HEDDLE_HOST_TO(short, short, -32768, 32767, 0)
HEDDLE_HOST_TO(ushort, unsigned short, 0, 65535, 0)
HEDDLE_HOST_TO(int, int, -2147483647 - 1, 2147483647, 0)
HEDDLE_HOST_TO(uint, unsigned int, 0, 4294967295u, 0)
HEDDLE_HOST_TO(ll, long long, -9223372036854775807 - 1, 9223372036854775807, -9223372036854775807 - 1)
HEDDLE_HOST_TO(ull, unsigned long long, 0, 18446744073709551615u, 9223372036854775808u)
#undef HEDDLE_HOST_TO

// --- among the lanes of a warp

#define HEDDLE_SHUFFLE(name, offset_type)                                                                            \
  HEDDLE_DEVICE HEDDLE_T2 name(unsigned int mask, HEDDLE_T2 value, offset_type offset, int width = 32) {             \
    return __builtin_bit_cast(HEDDLE_T2, name(mask, __builtin_bit_cast(unsigned int, value), offset, width));        \
  }                                                                                                                  \
  HEDDLE_DEVICE HEDDLE_T name(unsigned int mask, HEDDLE_T value, offset_type offset, int width = 32) {               \
    return HEDDLE_RAW{static_cast<unsigned short>(name(mask, static_cast<unsigned int>(value.__x), offset, width))}; \
  }
HEDDLE_SHUFFLE(__shfl_sync, int)
HEDDLE_SHUFFLE(__shfl_up_sync, unsigned int)
HEDDLE_SHUFFLE(__shfl_down_sync, unsigned int)
HEDDLE_SHUFFLE(__shfl_xor_sync, int)
#undef HEDDLE_SHUFFLE
