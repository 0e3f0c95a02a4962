// Relational functions of OpenCL C (1.2 specification, 6.12.6). On scalars true is 1, in vectors it is -1.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_RELATIONAL_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_RELATIONAL_H_

// Comparisons of vectors are vectors of integers of the same size already.
#define HEDDLE_COMPARE_WIDTH(name, type, integer, n, expression) \
  HEDDLE_CL integer##n name(type##n x, type##n y) { return (integer##n)(expression); }
#define HEDDLE_COMPARE_VECTORS(name, type, integer, expression) \
  HEDDLE_COMPARE_WIDTH(name, type, integer, 2, expression)      \
  HEDDLE_COMPARE_WIDTH(name, type, integer, 3, expression)      \
  HEDDLE_COMPARE_WIDTH(name, type, integer, 4, expression)      \
  HEDDLE_COMPARE_WIDTH(name, type, integer, 8, expression)      \
  HEDDLE_COMPARE_WIDTH(name, type, integer, 16, expression)
#define HEDDLE_COMPARE(name, type, integer, expression)       \
  HEDDLE_CL int name(type x, type y) { return (expression); } \
  HEDDLE_COMPARE_VECTORS(name, type, integer, expression)
#define HEDDLE_TEST_WIDTH(name, type, integer, n, expression) \
  HEDDLE_CL integer##n name(type##n x) { return (integer##n)(expression); }
#define HEDDLE_TEST_VECTORS(name, type, integer, expression) \
  HEDDLE_TEST_WIDTH(name, type, integer, 2, expression)      \
  HEDDLE_TEST_WIDTH(name, type, integer, 3, expression)      \
  HEDDLE_TEST_WIDTH(name, type, integer, 4, expression)      \
  HEDDLE_TEST_WIDTH(name, type, integer, 8, expression)      \
  HEDDLE_TEST_WIDTH(name, type, integer, 16, expression)
#define HEDDLE_RELATIONS(type, integer, infinity, smallest)                                  \
  HEDDLE_COMPARE_VECTORS(isequal, type, integer, x == y)                                     \
  HEDDLE_COMPARE_VECTORS(isnotequal, type, integer, x != y)                                  \
  HEDDLE_COMPARE_VECTORS(isless, type, integer, x < y)                                       \
  HEDDLE_COMPARE_VECTORS(isgreater, type, integer, x > y)                                    \
  HEDDLE_COMPARE(islessequal, type, integer, x <= y)                                         \
  HEDDLE_COMPARE(isgreaterequal, type, integer, x >= y)                                      \
  HEDDLE_COMPARE(islessgreater, type, integer, (x < y) | (x > y))                            \
  HEDDLE_COMPARE(isordered, type, integer, (x == x) & (y == y))                              \
  HEDDLE_COMPARE(isunordered, type, integer, (x != x) | (y != y))                            \
  HEDDLE_TEST_VECTORS(isnan, type, integer, x != x)                                          \
  HEDDLE_TEST_VECTORS(isinf, type, integer, fabs(x) == infinity)                             \
  HEDDLE_TEST_VECTORS(isfinite, type, integer, fabs(x) < infinity)                           \
  HEDDLE_TEST_VECTORS(isnormal, type, integer, (fabs(x) < infinity) & (fabs(x) >= smallest)) \
  HEDDLE_CL int isnormal(type x) { return fabs(x) < infinity && fabs(x) >= smallest; }       \
  HEDDLE_CL int signbit(type x) { return as_##integer(x) < 0; }
HEDDLE_RELATIONS(float, int, __builtin_inff(), 0x1p-126f)
HEDDLE_RELATIONS(double, long, __builtin_inf(), 0x1p-1022)
#undef HEDDLE_RELATIONS
#define HEDDLE_SIGN_BITS(type, integer, n) \
  HEDDLE_CL integer##n signbit(type##n x) { return (integer##n)(as_##integer##n(x) < (integer)0); }
HEDDLE_SIGN_BITS(float, int, 2)
HEDDLE_SIGN_BITS(float, int, 3)
HEDDLE_SIGN_BITS(float, int, 4)
HEDDLE_SIGN_BITS(float, int, 8)
HEDDLE_SIGN_BITS(float, int, 16)
HEDDLE_SIGN_BITS(double, long, 2)
HEDDLE_SIGN_BITS(double, long, 3)
HEDDLE_SIGN_BITS(double, long, 4)
HEDDLE_SIGN_BITS(double, long, 8)
HEDDLE_SIGN_BITS(double, long, 16)
#undef HEDDLE_SIGN_BITS
#undef HEDDLE_TEST_VECTORS
#undef HEDDLE_TEST_WIDTH
#undef HEDDLE_COMPARE
#undef HEDDLE_COMPARE_VECTORS
#undef HEDDLE_COMPARE_WIDTH

// By the most significant bit of each element.
#define HEDDLE_ANY_ALL(type)                                     \
  HEDDLE_CL int any(type x) { return x < 0; }                    \
  HEDDLE_CL int any(type##2 x) { return (x.x | x.y) < 0; }       \
  HEDDLE_CL int any(type##3 x) { return (x.x | x.y | x.z) < 0; } \
  HEDDLE_CL int any(type##4 x) { return any(x.lo | x.hi); }      \
  HEDDLE_CL int any(type##8 x) { return any(x.lo | x.hi); }      \
  HEDDLE_CL int any(type##16 x) { return any(x.lo | x.hi); }     \
  HEDDLE_CL int all(type x) { return x < 0; }                    \
  HEDDLE_CL int all(type##2 x) { return (x.x & x.y) < 0; }       \
  HEDDLE_CL int all(type##3 x) { return (x.x & x.y & x.z) < 0; } \
  HEDDLE_CL int all(type##4 x) { return all(x.lo & x.hi); }      \
  HEDDLE_CL int all(type##8 x) { return all(x.lo & x.hi); }      \
  HEDDLE_CL int all(type##16 x) { return all(x.lo & x.hi); }
HEDDLE_ANY_ALL(char)
HEDDLE_ANY_ALL(short)
HEDDLE_ANY_ALL(int)
HEDDLE_ANY_ALL(long)
#undef HEDDLE_ANY_ALL

// `integer` is signed, of the type's size. Conditions may be signed or unsigned.
#define HEDDLE_SELECT_WIDTH(type, integer, n)                                                                         \
  HEDDLE_CL type##n select(type##n x, type##n y, integer##n c) { return c < (integer)0 ? y : x; }                     \
  HEDDLE_CL type##n select(type##n x, type##n y, u##integer##n c) { return as_##integer##n(c) < (integer)0 ? y : x; } \
  HEDDLE_CL type##n bitselect(type##n x, type##n y, type##n c) {                                                      \
    return as_##type##n((as_##integer##n(x) & ~as_##integer##n(c)) | (as_##integer##n(y) & as_##integer##n(c)));      \
  }
#define HEDDLE_SELECT(type, integer)                                                                         \
  HEDDLE_CL type select(type x, type y, integer c) { return c ? y : x; }                                     \
  HEDDLE_CL type select(type x, type y, u##integer c) { return c ? y : x; }                                  \
  HEDDLE_CL type bitselect(type x, type y, type c) {                                                         \
    return as_##type((integer)((as_##integer(x) & ~as_##integer(c)) | (as_##integer(y) & as_##integer(c)))); \
  }                                                                                                          \
  HEDDLE_SELECT_WIDTH(type, integer, 2)                                                                      \
  HEDDLE_SELECT_WIDTH(type, integer, 3)                                                                      \
  HEDDLE_SELECT_WIDTH(type, integer, 4)                                                                      \
  HEDDLE_SELECT_WIDTH(type, integer, 8)                                                                      \
  HEDDLE_SELECT_WIDTH(type, integer, 16)
HEDDLE_SELECT(char, char)
HEDDLE_SELECT(uchar, char)
HEDDLE_SELECT(short, short)
HEDDLE_SELECT(ushort, short)
HEDDLE_SELECT(int, int)
HEDDLE_SELECT(uint, int)
HEDDLE_SELECT(long, long)
HEDDLE_SELECT(ulong, long)
HEDDLE_SELECT(float, int)
HEDDLE_SELECT(double, long)
#undef HEDDLE_SELECT
#undef HEDDLE_SELECT_WIDTH

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_INCLUDE_HEDDLE_OPENCL_RELATIONAL_H_
