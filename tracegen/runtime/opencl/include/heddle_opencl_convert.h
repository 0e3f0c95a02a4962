// Conversions of OpenCL C with saturation and rounding modes (1.2 specification, 6.2.3).
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_CONVERT_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_CONVERT_H_

// A floating-point number rounded to a whole one by a mode; integers are whole.
#define HEDDLE_WHOLE_rte(x) rint(x)
#define HEDDLE_WHOLE_rtz(x) trunc(x)
#define HEDDLE_WHOLE_rtp(x) ceil(x)
#define HEDDLE_WHOLE_rtn(x) floor(x)

// All widths of a conversion, from the scalar one.
#define HEDDLE_CONVERT_WIDTHS(to, suffix, from)                                                      \
  HEDDLE_CL to##2 convert_##to##2##suffix(from##2 x) {                                               \
    return (to##2)(convert_##to##suffix(x.x), convert_##to##suffix(x.y));                            \
  }                                                                                                  \
  HEDDLE_CL to##3 convert_##to##3##suffix(from##3 x) {                                               \
    return (to##3)(convert_##to##suffix(x.x), convert_##to##suffix(x.y), convert_##to##suffix(x.z)); \
  }                                                                                                  \
  HEDDLE_CL to##4 convert_##to##4##suffix(from##4 x) {                                               \
    return (to##4)(convert_##to##2##suffix(x.lo), convert_##to##2##suffix(x.hi));                    \
  }                                                                                                  \
  HEDDLE_CL to##8 convert_##to##8##suffix(from##8 x) {                                               \
    return (to##8)(convert_##to##4##suffix(x.lo), convert_##to##4##suffix(x.hi));                    \
  }                                                                                                  \
  HEDDLE_CL to##16 convert_##to##16##suffix(from##16 x) {                                            \
    return (to##16)(convert_##to##8##suffix(x.lo), convert_##to##8##suffix(x.hi));                   \
  }
// From an integer: the rounding mode does not matter. Limits are compared in a type that holds both.
#define HEDDLE_SAT_INTEGER(to, suffix, from, low, high)                                                         \
  HEDDLE_CL to convert_##to##suffix(from x) {                                                                   \
    return x < 0 && (long)x < (long)(low) ? (to)(low) : x > 0 && (ulong)x > (ulong)(high) ? (to)(high) : (to)x; \
  }                                                                                                             \
  HEDDLE_CONVERT_WIDTHS(to, suffix, from)
// From a floating-point number: not a number is 0. `end` is the power of two above the greatest value.
#define HEDDLE_SAT_FLOATING(to, suffix, from, mode, low, high, end)                                                 \
  HEDDLE_CL to convert_##to##suffix(from x) {                                                                       \
    const from whole = HEDDLE_WHOLE_##mode(x);                                                                      \
    return whole >= (from)end ? (to)(high) : whole <= (from)(low) ? (to)(low) : whole == whole ? (to)whole : (to)0; \
  }                                                                                                                 \
  HEDDLE_CONVERT_WIDTHS(to, suffix, from)
#define HEDDLE_PLAIN_FLOATING(to, suffix, from, mode)                              \
  HEDDLE_CL to convert_##to##suffix(from x) { return (to)HEDDLE_WHOLE_##mode(x); } \
  HEDDLE_CONVERT_WIDTHS(to, suffix, from)
#define HEDDLE_PLAIN_INTEGER(to, suffix, from)                \
  HEDDLE_CL to convert_##to##suffix(from x) { return (to)x; } \
  HEDDLE_CONVERT_WIDTHS(to, suffix, from)

#define HEDDLE_FROM_INTEGERS(macro, to, suffix, ...)                                   \
  macro(to, suffix, char, ##__VA_ARGS__) macro(to, suffix, uchar, ##__VA_ARGS__)       \
      macro(to, suffix, short, ##__VA_ARGS__) macro(to, suffix, ushort, ##__VA_ARGS__) \
          macro(to, suffix, int, ##__VA_ARGS__) macro(to, suffix, uint, ##__VA_ARGS__) \
              macro(to, suffix, long, ##__VA_ARGS__) macro(to, suffix, ulong, ##__VA_ARGS__)
#define HEDDLE_TO_INTEGER_BY(to, mode, low, high, end)                 \
  HEDDLE_FROM_INTEGERS(HEDDLE_SAT_INTEGER, to, _sat_##mode, low, high) \
  HEDDLE_FROM_INTEGERS(HEDDLE_PLAIN_INTEGER, to, _##mode)              \
  HEDDLE_SAT_FLOATING(to, _sat_##mode, float, mode, low, high, end)    \
  HEDDLE_SAT_FLOATING(to, _sat_##mode, double, mode, low, high, end)   \
  HEDDLE_PLAIN_FLOATING(to, _##mode, float, mode)                      \
  HEDDLE_PLAIN_FLOATING(to, _##mode, double, mode)
#define HEDDLE_TO_INTEGER(to, low, high, end)                   \
  HEDDLE_FROM_INTEGERS(HEDDLE_SAT_INTEGER, to, _sat, low, high) \
  HEDDLE_SAT_FLOATING(to, _sat, float, rtz, low, high, end)     \
  HEDDLE_SAT_FLOATING(to, _sat, double, rtz, low, high, end)    \
  HEDDLE_TO_INTEGER_BY(to, rte, low, high, end)                 \
  HEDDLE_TO_INTEGER_BY(to, rtz, low, high, end)                 \
  HEDDLE_TO_INTEGER_BY(to, rtp, low, high, end)                 \
  HEDDLE_TO_INTEGER_BY(to, rtn, low, high, end)
HEDDLE_TO_INTEGER(char, CHAR_MIN, CHAR_MAX, 0x1p7)
HEDDLE_TO_INTEGER(uchar, 0, UCHAR_MAX, 0x1p8)
HEDDLE_TO_INTEGER(short, SHRT_MIN, SHRT_MAX, 0x1p15)
HEDDLE_TO_INTEGER(ushort, 0, USHRT_MAX, 0x1p16)
HEDDLE_TO_INTEGER(int, INT_MIN, INT_MAX, 0x1p31)
HEDDLE_TO_INTEGER(uint, 0, UINT_MAX, 0x1p32)
HEDDLE_TO_INTEGER(long, LONG_MIN, LONG_MAX, 0x1p63)
HEDDLE_TO_INTEGER(ulong, 0, ULONG_MAX, 0x1p64)
#undef HEDDLE_TO_INTEGER
#undef HEDDLE_TO_INTEGER_BY
#undef HEDDLE_SAT_FLOATING
#undef HEDDLE_SAT_INTEGER
#undef HEDDLE_PLAIN_FLOATING
#undef HEDDLE_PLAIN_INTEGER

// To floating point, by instructions of the rounding mode. To nearest even is the mode of plain conversions. LLVM takes
// the intrinsics that round towards zero for those that round to nearest, so the sign chooses between the other two.
#define HEDDLE_ROUNDED(to, mode, from, intrinsic) \
  HEDDLE_CL to heddle_##to##_##mode(from x) { return intrinsic##_##mode(x); }
#define HEDDLE_TOWARDS_ZERO(to, from) \
  HEDDLE_CL to heddle_##to##_rz(from x) { return x < 0 ? heddle_##to##_rp(x) : heddle_##to##_rm(x); }
#define HEDDLE_MODES(to, from, intrinsic) \
  HEDDLE_ROUNDED(to, rp, from, intrinsic) \
  HEDDLE_ROUNDED(to, rm, from, intrinsic) \
  HEDDLE_TOWARDS_ZERO(to, from)
HEDDLE_MODES(float, long, __nvvm_ll2f)
HEDDLE_MODES(float, ulong, __nvvm_ull2f)
HEDDLE_MODES(double, long, __nvvm_ll2d)
HEDDLE_MODES(double, ulong, __nvvm_ull2d)
HEDDLE_MODES(float, double, __nvvm_d2f)
#undef HEDDLE_MODES
#undef HEDDLE_TOWARDS_ZERO
#undef HEDDLE_ROUNDED

#define HEDDLE_BY(to, suffix, from, expression)                          \
  HEDDLE_CL to convert_##to##suffix(from x) { return (to)(expression); } \
  HEDDLE_CONVERT_WIDTHS(to, suffix, from)
#define HEDDLE_TO_FLOATING_BY(to, suffix, mode)                \
  HEDDLE_BY(to, suffix, char, x)                               \
  HEDDLE_BY(to, suffix, uchar, x)                              \
  HEDDLE_BY(to, suffix, short, x)                              \
  HEDDLE_BY(to, suffix, ushort, x)                             \
  HEDDLE_BY(to, suffix, int, heddle_##to##_##mode((long)x))    \
  HEDDLE_BY(to, suffix, uint, heddle_##to##_##mode((ulong)x))  \
  HEDDLE_BY(to, suffix, long, heddle_##to##_##mode((long)x))   \
  HEDDLE_BY(to, suffix, ulong, heddle_##to##_##mode((ulong)x)) \
  HEDDLE_BY(to, suffix, float, x)
#define HEDDLE_TO_FLOATING(to)                 \
  HEDDLE_FROM_INTEGERS(HEDDLE_BY, to, _rte, x) \
  HEDDLE_BY(to, _rte, float, x)                \
  HEDDLE_BY(to, _rte, double, x)               \
  HEDDLE_TO_FLOATING_BY(to, _rtz, rz)          \
  HEDDLE_TO_FLOATING_BY(to, _rtp, rp)          \
  HEDDLE_TO_FLOATING_BY(to, _rtn, rm)
HEDDLE_TO_FLOATING(float)
HEDDLE_TO_FLOATING(double)
HEDDLE_BY(float, _rtz, double, heddle_float_rz(x))
HEDDLE_BY(float, _rtp, double, heddle_float_rp(x))
HEDDLE_BY(float, _rtn, double, heddle_float_rm(x))
HEDDLE_BY(double, _rtz, double, x)
HEDDLE_BY(double, _rtp, double, x)
HEDDLE_BY(double, _rtn, double, x)
#undef HEDDLE_TO_FLOATING
#undef HEDDLE_TO_FLOATING_BY
#undef HEDDLE_BY
#undef HEDDLE_FROM_INTEGERS
#undef HEDDLE_CONVERT_WIDTHS

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_CONVERT_H_
