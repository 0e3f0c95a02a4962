// CUDA's functions for dynamic programming (DPX): sums, minima and maxima of two or three whole numbers of 32 bits, or
// of two pairs of 16, with or without a lower bound of zero (relu). One instruction each on devices of compute
// capability 9; here the ordinary instructions that older devices take.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_DPX_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_DPX_H_

#define HEDDLE_BOTH static __forceinline__ __host__ __device__

HEDDLE_BOTH int heddle_most(int x, int y) { return x > y ? x : y; }
HEDDLE_BOTH int heddle_least(int x, int y) { return x < y ? x : y; }
HEDDLE_BOTH unsigned int heddle_most(unsigned int x, unsigned int y) { return x > y ? x : y; }
HEDDLE_BOTH unsigned int heddle_least(unsigned int x, unsigned int y) { return x < y ? x : y; }
HEDDLE_BOTH int heddle_add(int x, int y) {
  return static_cast<int>(static_cast<unsigned int>(x) + static_cast<unsigned int>(y));
}
HEDDLE_BOTH unsigned int heddle_add(unsigned int x, unsigned int y) { return x + y; }

// Functions of 32 bits, and those of two halves of a word made of them: a half as a number of 32 bits, and back.
#define HEDDLE_DPX(suffix, type)                                                                             \
  HEDDLE_BOTH type __viaddmax_##suffix(type x, type y, type z) { return heddle_most(heddle_add(x, y), z); }  \
  HEDDLE_BOTH type __viaddmin_##suffix(type x, type y, type z) { return heddle_least(heddle_add(x, y), z); } \
  HEDDLE_BOTH type __vimax3_##suffix(type x, type y, type z) { return heddle_most(heddle_most(x, y), z); }   \
  HEDDLE_BOTH type __vimin3_##suffix(type x, type y, type z) { return heddle_least(heddle_least(x, y), z); } \
  HEDDLE_BOTH type __vibmax_##suffix(type x, type y, bool* first) { return (*first = x >= y) ? x : y; }      \
  HEDDLE_BOTH type __vibmin_##suffix(type x, type y, bool* first) { return (*first = x <= y) ? x : y; }
HEDDLE_DPX(s32, int)
HEDDLE_DPX(u32, unsigned int)
#undef HEDDLE_DPX
HEDDLE_BOTH int __vimax_s32_relu(int x, int y) { return __vimax3_s32(x, y, 0); }
HEDDLE_BOTH int __vimin_s32_relu(int x, int y) { return heddle_most(heddle_least(x, y), 0); }
HEDDLE_BOTH int __viaddmax_s32_relu(int x, int y, int z) { return heddle_most(__viaddmax_s32(x, y, z), 0); }
HEDDLE_BOTH int __viaddmin_s32_relu(int x, int y, int z) { return heddle_most(__viaddmin_s32(x, y, z), 0); }
HEDDLE_BOTH int __vimax3_s32_relu(int x, int y, int z) { return heddle_most(__vimax3_s32(x, y, z), 0); }
HEDDLE_BOTH int __vimin3_s32_relu(int x, int y, int z) { return heddle_most(__vimin3_s32(x, y, z), 0); }

#define HEDDLE_WORD(high, low) ((static_cast<unsigned int>(high) << 16) | (static_cast<unsigned int>(low) & 0xffffu))
#define HEDDLE_LOW(half, word, x) static_cast<word>(static_cast<half>(x))
#define HEDDLE_HIGH(half, word, x) static_cast<word>(static_cast<half>((x) >> 16))
#define HEDDLE_HALVES3(name, of_words, half, word, sum_first)                                                  \
  HEDDLE_BOTH unsigned int name(unsigned int x, unsigned int y, unsigned int z) {                              \
    return HEDDLE_WORD(of_words(sum_first(half, word, HEDDLE_HIGH(half, word, x), HEDDLE_HIGH(half, word, y)), \
                                HEDDLE_HIGH(half, word, z)),                                                   \
                       of_words(sum_first(half, word, HEDDLE_LOW(half, word, x), HEDDLE_LOW(half, word, y)),   \
                                HEDDLE_LOW(half, word, z)));                                                   \
  }
#define HEDDLE_PASS(half, word, x, y) x, y
#define HEDDLE_SUM(half, word, x, y) static_cast<word>(static_cast<half>((x) + (y)))
#define HEDDLE_BOTH_OF(name, of_words, half, word)                                                  \
  HEDDLE_BOTH unsigned int name(unsigned int x, unsigned int y, bool* high, bool* low) {            \
    const word upper = of_words(HEDDLE_HIGH(half, word, x), HEDDLE_HIGH(half, word, y), high);      \
    return HEDDLE_WORD(upper, of_words(HEDDLE_LOW(half, word, x), HEDDLE_LOW(half, word, y), low)); \
  }
#define HEDDLE_DPX2(suffix, words, half, word)                                 \
  HEDDLE_HALVES3(__viaddmax_##suffix, heddle_most, half, word, HEDDLE_SUM)     \
  HEDDLE_HALVES3(__viaddmin_##suffix, heddle_least, half, word, HEDDLE_SUM)    \
  HEDDLE_HALVES3(__vimax3_##suffix, __vimax3_##words, half, word, HEDDLE_PASS) \
  HEDDLE_HALVES3(__vimin3_##suffix, __vimin3_##words, half, word, HEDDLE_PASS) \
  HEDDLE_BOTH_OF(__vibmax_##suffix, __vibmax_##words, half, word)              \
  HEDDLE_BOTH_OF(__vibmin_##suffix, __vibmin_##words, half, word)
HEDDLE_DPX2(s16x2, s32, short, int)
HEDDLE_DPX2(u16x2, u32, unsigned short, unsigned int)
HEDDLE_HALVES3(__viaddmax_s16x2_relu, __vimax_s32_relu, short, int, HEDDLE_SUM)
HEDDLE_HALVES3(__viaddmin_s16x2_relu, __vimin_s32_relu, short, int, HEDDLE_SUM)
HEDDLE_HALVES3(__vimax3_s16x2_relu, __vimax3_s32_relu, short, int, HEDDLE_PASS)
HEDDLE_HALVES3(__vimin3_s16x2_relu, __vimin3_s32_relu, short, int, HEDDLE_PASS)
HEDDLE_BOTH unsigned int __vimax_s16x2_relu(unsigned int x, unsigned int y) { return __vimax3_s16x2_relu(x, y, y); }
HEDDLE_BOTH unsigned int __vimin_s16x2_relu(unsigned int x, unsigned int y) { return __vimin3_s16x2_relu(x, y, y); }
#undef HEDDLE_DPX2
#undef HEDDLE_BOTH_OF
#undef HEDDLE_SUM
#undef HEDDLE_PASS
#undef HEDDLE_HALVES3
#undef HEDDLE_HIGH
#undef HEDDLE_LOW
#undef HEDDLE_WORD
#undef HEDDLE_BOTH

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_DPX_H_
