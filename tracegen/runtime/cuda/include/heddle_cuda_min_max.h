// The smaller and the larger of two numbers. Included once for each side: HEDDLE_SIDE says what the functions are.
#define HEDDLE_MIN_MAX(type)                                     \
  HEDDLE_SIDE type min(type x, type y) { return x < y ? x : y; } \
  HEDDLE_SIDE type max(type x, type y) { return x > y ? x : y; }
HEDDLE_MIN_MAX(int)
HEDDLE_MIN_MAX(unsigned int)
HEDDLE_MIN_MAX(long)
HEDDLE_MIN_MAX(unsigned long)
HEDDLE_MIN_MAX(long long)
HEDDLE_MIN_MAX(unsigned long long)
#undef HEDDLE_MIN_MAX
#define HEDDLE_MIXED_MIN_MAX(wide, narrow)                                        \
  HEDDLE_SIDE wide min(narrow x, wide y) { return min(static_cast<wide>(x), y); } \
  HEDDLE_SIDE wide min(wide x, narrow y) { return min(x, static_cast<wide>(y)); } \
  HEDDLE_SIDE wide max(narrow x, wide y) { return max(static_cast<wide>(x), y); } \
  HEDDLE_SIDE wide max(wide x, narrow y) { return max(x, static_cast<wide>(y)); }
HEDDLE_MIXED_MIN_MAX(unsigned int, int)
HEDDLE_MIXED_MIN_MAX(unsigned long, long)
HEDDLE_MIXED_MIN_MAX(unsigned long long, long long)
HEDDLE_SIDE float min(float x, float y) { return __builtin_fminf(x, y); }
HEDDLE_SIDE float max(float x, float y) { return __builtin_fmaxf(x, y); }
HEDDLE_SIDE double min(double x, double y) { return __builtin_fmin(x, y); }
HEDDLE_SIDE double max(double x, double y) { return __builtin_fmax(x, y); }
HEDDLE_MIXED_MIN_MAX(double, float)
#undef HEDDLE_MIXED_MIN_MAX
HEDDLE_SIDE unsigned int umin(unsigned int x, unsigned int y) { return min(x, y); }
HEDDLE_SIDE unsigned int umax(unsigned int x, unsigned int y) { return max(x, y); }
HEDDLE_SIDE long long llmin(long long x, long long y) { return min(x, y); }
HEDDLE_SIDE long long llmax(long long x, long long y) { return max(x, y); }
HEDDLE_SIDE unsigned long long ullmin(unsigned long long x, unsigned long long y) { return min(x, y); }
HEDDLE_SIDE unsigned long long ullmax(unsigned long long x, unsigned long long y) { return max(x, y); }
