/* MRG32k3a: two recurrences of order three, combined (L'Ecuyer, "Good parameters and implementations for combined
 * multiple recursive random number generators", Operations Research 47(1), 1999). Skips are powers of the recurrences'
 * matrices; streams and their parts are spaced as in L'Ecuyer, Simard, Chen and Kelton (Operations Research 50(6),
 * 2002). */
#ifndef HEDDLE_CURAND_MRG32K3A_H_
#define HEDDLE_CURAND_MRG32K3A_H_

#include "states.h"

namespace heddle_curand {

constexpr unsigned long long kMrgModulus1 = 4294967087ull, kMrgModulus2 = 4294944443ull;
constexpr int kMrgSubsequence = 76, kMrgSequence = 127, kMrgPowers = kMrgSequence + 64;

struct MrgMatrix {
  unsigned int at[3][3];
};

/* The matrices of one recurrence for 2^i steps. */
struct MrgJumps {
  MrgMatrix power[kMrgPowers];

  constexpr MrgJumps(unsigned long long oldest, unsigned long long middle, unsigned long long newest,
                     unsigned long long modulus)
      : power{} {
    power[0].at[0][1] = 1;
    power[0].at[1][2] = 1;
    power[0].at[2][0] = static_cast<unsigned int>(oldest);
    power[0].at[2][1] = static_cast<unsigned int>(middle);
    power[0].at[2][2] = static_cast<unsigned int>(newest);
    for (int i = 1; i < kMrgPowers; ++i) {
      for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
          unsigned long long sum = 0;
          for (int k = 0; k < 3; ++k) {
            const unsigned long long product =
                static_cast<unsigned long long>(power[i - 1].at[row][k]) * power[i - 1].at[k][column];
            sum = (sum + product % modulus) % modulus;
          }
          power[i].at[row][column] = static_cast<unsigned int>(sum);
        }
      }
    }
  }
};

#ifdef __CUDA_ARCH__
static __device__ const MrgJumps mrg_jumps1{kMrgModulus1 - 810728, 1403580, 0, kMrgModulus1};
static __device__ const MrgJumps mrg_jumps2{kMrgModulus2 - 1370589, 0, 527612, kMrgModulus2};
#else
static __device__ MrgJumps *mrg_jumps1, *mrg_jumps2; /* device code alone reads them */
#endif

static inline __device__ void MrgApply(const MrgMatrix& matrix, unsigned long long modulus, unsigned int* s) {
  unsigned int result[3];
  for (int row = 0; row < 3; ++row) {
    unsigned long long sum = 0;
    for (int k = 0; k < 3; ++k) sum += static_cast<unsigned long long>(matrix.at[row][k]) * s[k] % modulus;
    result[row] = static_cast<unsigned int>(sum % modulus);
  }
  for (int k = 0; k < 3; ++k) s[k] = result[k];
}

/* `jumps` skips of 2^first numbers each. */
static inline __device__ void MrgJump(unsigned long long jumps, int first, curandStateMRG32k3a* state) {
#ifdef __CUDA_ARCH__
  for (int i = first; jumps != 0; ++i, jumps >>= 1) {
    if (!(jumps & 1)) continue;
    MrgApply(mrg_jumps1.power[i], kMrgModulus1, state->s1);
    MrgApply(mrg_jumps2.power[i], kMrgModulus2, state->s2);
  }
#endif
}

/* The next number, from 1 to the first modulus. */
static inline __device__ unsigned int MrgNext(curandStateMRG32k3a* state) {
  const unsigned long long p1 = (1403580ull * state->s1[1] + (kMrgModulus1 - state->s1[0]) * 810728ull) % kMrgModulus1;
  state->s1[0] = state->s1[1];
  state->s1[1] = state->s1[2];
  state->s1[2] = static_cast<unsigned int>(p1);
  const unsigned long long p2 = (527612ull * state->s2[2] + (kMrgModulus2 - state->s2[0]) * 1370589ull) % kMrgModulus2;
  state->s2[0] = state->s2[1];
  state->s2[1] = state->s2[2];
  state->s2[2] = static_cast<unsigned int>(p2);
  return static_cast<unsigned int>(p1 > p2 ? p1 - p2 : p1 + kMrgModulus1 - p2);
}

} /* namespace heddle_curand */

/* Stretched over 32 bits. */
static inline __device__ unsigned int curand(curandStateMRG32k3a* state) {
  return static_cast<unsigned int>(heddle_curand::MrgNext(state) * 1.000000048662);
}

static inline __device__ void skipahead(unsigned long long n, curandStateMRG32k3a* state) {
  heddle_curand::MrgJump(n, 0, state);
}
static inline __device__ void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a* state) {
  heddle_curand::MrgJump(n, heddle_curand::kMrgSubsequence, state);
}
static inline __device__ void skipahead_sequence(unsigned long long n, curandStateMRG32k3a* state) {
  heddle_curand::MrgJump(n, heddle_curand::kMrgSequence, state);
}

/* How the seed enters is the vendor's choice, as in curand/xorwow.h. */
static inline __device__ void curand_init(unsigned long long seed, unsigned long long subsequence,
                                          unsigned long long offset, curandStateMRG32k3a* state) {
  *state = curandStateMRG32k3a();
  const unsigned long long low = static_cast<unsigned int>(seed) ^ 0x55555555u;
  const unsigned long long high = static_cast<unsigned int>(seed >> 32) ^ 0xaaaaaaaau;
  for (int i = 0; i < 3; ++i) {
    const unsigned long long first = seed == 0 ? 1 : i == 1 ? high : low;
    const unsigned long long second = seed == 0 ? 1 : i == 1 ? low : high;
    state->s1[i] = static_cast<unsigned int>(first * 12345 % heddle_curand::kMrgModulus1);
    state->s2[i] = static_cast<unsigned int>(second * 12345 % heddle_curand::kMrgModulus2);
  }
  skipahead_subsequence(subsequence, state);
  skipahead(offset, state);
}

#endif /* HEDDLE_CURAND_MRG32K3A_H_ */
