// CUDA's intrinsics on two 16-bit or four 8-bit numbers in a word (__vadd4 and its like). Since Maxwell, devices
// compute them with short sequences of ordinary instructions; so does this.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_SIMD_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_SIMD_H_

// Function `name` whose lanes are `result` of a and b, lanes of type `lane` as int.
#define HEDDLE_LANES2(name, lane, result)                                               \
  HEDDLE_DEVICE unsigned int name(unsigned int x, unsigned int y) {                     \
    constexpr int bits = 8 * sizeof(lane);                                              \
    unsigned int lanes = 0;                                                             \
    _Pragma("unroll") for (int i = 0; i < 32; i += bits) {                              \
      const int a = static_cast<lane>(x >> i), b = static_cast<lane>(y >> i);           \
      lanes |= (static_cast<unsigned int>(result) & (0xffffffffu >> (32 - bits))) << i; \
    }                                                                                   \
    return lanes;                                                                       \
  }
#define HEDDLE_LANES1(name, lane, result)                                               \
  HEDDLE_DEVICE unsigned int name(unsigned int x) {                                     \
    constexpr int bits = 8 * sizeof(lane);                                              \
    unsigned int lanes = 0;                                                             \
    _Pragma("unroll") for (int i = 0; i < 32; i += bits) {                              \
      const int a = static_cast<lane>(x >> i);                                          \
      lanes |= (static_cast<unsigned int>(result) & (0xffffffffu >> (32 - bits))) << i; \
    }                                                                                   \
    return lanes;                                                                       \
  }
#define HEDDLE_SUM(name, lane)                                                \
  HEDDLE_DEVICE unsigned int name(unsigned int x, unsigned int y) {           \
    constexpr int bits = 8 * sizeof(lane);                                    \
    unsigned int sum = 0;                                                     \
    _Pragma("unroll") for (int i = 0; i < 32; i += bits) {                    \
      const int a = static_cast<lane>(x >> i), b = static_cast<lane>(y >> i); \
      sum += static_cast<unsigned int>(a > b ? a - b : b - a);                \
    }                                                                         \
    return sum;                                                               \
  }
#define HEDDLE_CLAMP(value, low, high) ((value) < (low) ? (low) : (value) > (high) ? (high) : (value))
typedef signed char heddle_s4;
typedef unsigned char heddle_u4;
typedef short heddle_s2;
typedef unsigned short heddle_u2;

#define HEDDLE_SIMD(n, low, high, most)                                           \
  HEDDLE_LANES1(__vabs##n, heddle_s##n, a < 0 ? -a : a)                           \
  HEDDLE_LANES1(__vabsss##n, heddle_s##n, a < 0 ? (a == (low) ? (high) : -a) : a) \
  HEDDLE_LANES1(__vneg##n, heddle_s##n, -a)                                       \
  HEDDLE_LANES1(__vnegss##n, heddle_s##n, a == (low) ? (high) : -a)               \
  HEDDLE_LANES2(__vadd##n, heddle_s##n, a + b)                                    \
  HEDDLE_LANES2(__vaddss##n, heddle_s##n, HEDDLE_CLAMP(a + b, low, high))         \
  HEDDLE_LANES2(__vaddus##n, heddle_u##n, HEDDLE_CLAMP(a + b, 0, most))           \
  HEDDLE_LANES2(__vsub##n, heddle_s##n, a - b)                                    \
  HEDDLE_LANES2(__vsubss##n, heddle_s##n, HEDDLE_CLAMP(a - b, low, high))         \
  HEDDLE_LANES2(__vsubus##n, heddle_u##n, HEDDLE_CLAMP(a - b, 0, most))           \
  HEDDLE_LANES2(__vabsdiffs##n, heddle_s##n, a > b ? a - b : b - a)               \
  HEDDLE_LANES2(__vabsdiffu##n, heddle_u##n, a > b ? a - b : b - a)               \
  HEDDLE_LANES2(__vavgs##n, heddle_s##n, (a + b + (a + b >= 0 ? 1 : 0)) >> 1)     \
  HEDDLE_LANES2(__vavgu##n, heddle_u##n, (a + b + 1) >> 1)                        \
  HEDDLE_LANES2(__vhaddu##n, heddle_u##n, (a + b) >> 1)                           \
  HEDDLE_LANES2(__vmaxs##n, heddle_s##n, a > b ? a : b)                           \
  HEDDLE_LANES2(__vmaxu##n, heddle_u##n, a > b ? a : b)                           \
  HEDDLE_LANES2(__vmins##n, heddle_s##n, a < b ? a : b)                           \
  HEDDLE_LANES2(__vminu##n, heddle_u##n, a < b ? a : b)                           \
  HEDDLE_LANES2(__vcmpeq##n, heddle_s##n, a == b ? -1 : 0)                        \
  HEDDLE_LANES2(__vcmpne##n, heddle_s##n, a != b ? -1 : 0)                        \
  HEDDLE_LANES2(__vseteq##n, heddle_s##n, a == b ? 1 : 0)                         \
  HEDDLE_LANES2(__vsetne##n, heddle_s##n, a != b ? 1 : 0)                         \
  HEDDLE_LANES2(__vcmpges##n, heddle_s##n, a >= b ? -1 : 0)                       \
  HEDDLE_LANES2(__vcmpgeu##n, heddle_u##n, a >= b ? -1 : 0)                       \
  HEDDLE_LANES2(__vcmpgts##n, heddle_s##n, a > b ? -1 : 0)                        \
  HEDDLE_LANES2(__vcmpgtu##n, heddle_u##n, a > b ? -1 : 0)                        \
  HEDDLE_LANES2(__vcmples##n, heddle_s##n, a <= b ? -1 : 0)                       \
  HEDDLE_LANES2(__vcmpleu##n, heddle_u##n, a <= b ? -1 : 0)                       \
  HEDDLE_LANES2(__vcmplts##n, heddle_s##n, a < b ? -1 : 0)                        \
  HEDDLE_LANES2(__vcmpltu##n, heddle_u##n, a < b ? -1 : 0)                        \
  HEDDLE_LANES2(__vsetges##n, heddle_s##n, a >= b ? 1 : 0)                        \
  HEDDLE_LANES2(__vsetgeu##n, heddle_u##n, a >= b ? 1 : 0)                        \
  HEDDLE_LANES2(__vsetgts##n, heddle_s##n, a > b ? 1 : 0)                         \
  HEDDLE_LANES2(__vsetgtu##n, heddle_u##n, a > b ? 1 : 0)                         \
  HEDDLE_LANES2(__vsetles##n, heddle_s##n, a <= b ? 1 : 0)                        \
  HEDDLE_LANES2(__vsetleu##n, heddle_u##n, a <= b ? 1 : 0)                        \
  HEDDLE_LANES2(__vsetlts##n, heddle_s##n, a < b ? 1 : 0)                         \
  HEDDLE_LANES2(__vsetltu##n, heddle_u##n, a < b ? 1 : 0)                         \
  HEDDLE_SUM(__vsads##n, heddle_s##n)                                             \
  HEDDLE_SUM(__vsadu##n, heddle_u##n)
HEDDLE_SIMD(4, -128, 127, 255)
HEDDLE_SIMD(2, -32768, 32767, 65535)

#undef HEDDLE_SIMD
#undef HEDDLE_CLAMP
#undef HEDDLE_SUM
#undef HEDDLE_LANES1
#undef HEDDLE_LANES2

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_SIMD_H_
