/* XORWOW: a xorshift generator of 160 bits and a Weyl sequence (Marsaglia, "Xorshift RNGs", Journal of Statistical
 * Software 8(14), 2003, page 5). Skipping ahead: a step of the 160 bits is linear over GF(2), so n steps are the
 * polynomial x^n modulo the step's characteristic polynomial, applied to the step (Cayley and Hamilton). */
#ifndef HEDDLE_CURAND_XORWOW_H_
#define HEDDLE_CURAND_XORWOW_H_

#include "states.h"

#if __cplusplus < 201402L
#error "curand_kernel.h of Heddle computes its tables with the compiler: use -std=c++14 or newer"
#endif

namespace heddle_curand {

/* The characteristic polynomial of a step, without x^160. It is found by the algorithm of Berlekamp and Massey. */
#define HEDDLE_XORWOW_POLYNOMIAL {0x00060001u, 0x08610030u, 0x00062121u, 0x0f3c0035u, 0x00000f0eu}

/* x^(2^i) modulo the polynomial, for 0 <= i < 131: skips of up to 2^64 numbers, and of 2^67 numbers and their
 * multiples.
 */
struct XorwowJumps {
  static constexpr int kWords = 5, kBits = 160, kSequence = 67, kPowers = kSequence + 64;
  unsigned int power[kPowers][kWords];

  constexpr XorwowJumps() : power{} {
    const unsigned int low[kWords] = HEDDLE_XORWOW_POLYNOMIAL;
    power[0][0] = 2;
    for (int i = 1; i < kPowers; ++i) {
      unsigned int square[2 * kWords + 1] = {};
      for (int bit = 0; bit < kBits; ++bit) {
        if ((power[i - 1][bit / 32] >> (bit % 32)) & 1) square[bit / 16] |= 1u << (2 * bit % 32);
      }
      for (int bit = 2 * kBits - 1; bit >= kBits; --bit) {
        if (!((square[bit / 32] >> (bit % 32)) & 1)) continue;
        const int word = (bit - kBits) / 32, shift = (bit - kBits) % 32;
        for (int w = 0; w < kWords; ++w) {
          square[word + w] ^= low[w] << shift;
          if (shift != 0) square[word + w + 1] ^= low[w] >> (32 - shift);
        }
      }
      for (int w = 0; w < kWords; ++w) power[i][w] = square[w];
    }
  }
};

#ifdef __CUDA_ARCH__
static __device__ const XorwowJumps xorwow_jumps{};
#else
static __device__ XorwowJumps* xorwow_jumps; /* device code alone reads it */
#endif

static inline __device__ void XorwowStep(unsigned int* v) {
  const unsigned int t = v[0] ^ (v[0] >> 2);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}

/* `jumps` steps of 2^first each. */
static inline __device__ void XorwowJump(unsigned long long jumps, int first, unsigned int* v) {
#ifdef __CUDA_ARCH__
  for (int i = first; jumps != 0; ++i, jumps >>= 1) {
    if (!(jumps & 1)) continue;
    unsigned int sum[5] = {0, 0, 0, 0, 0};
    for (int word = 4; word >= 0; --word) {
      const unsigned int bits = xorwow_jumps.power[i][word];
      for (int bit = 31; bit >= 0; --bit) {
        XorwowStep(sum);
        const unsigned int mask = 0u - ((bits >> bit) & 1);
        for (int w = 0; w < 5; ++w) sum[w] ^= v[w] & mask;
      }
    }
    for (int w = 0; w < 5; ++w) v[w] = sum[w];
  }
#endif
}

} /* namespace heddle_curand */

static inline __device__ unsigned int curand(curandStateXORWOW* state) {
  heddle_curand::XorwowStep(state->v);
  state->d += 362437;
  return state->v[4] + state->d;
}

static inline __device__ void skipahead(unsigned long long n, curandStateXORWOW* state) {
  heddle_curand::XorwowJump(n, 0, state->v);
  state->d += 362437u * static_cast<unsigned int>(n);
}

/* A sequence has 2^67 numbers, over which the Weyl sequence comes back to where it was. */
static inline __device__ void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {
  heddle_curand::XorwowJump(n, heddle_curand::XorwowJumps::kSequence, state->v);
}

/* How the seed enters is the vendor's choice: without the same numbers, sequences would be others. The first words are
 * the paper's. */
static inline __device__ void curand_init(unsigned long long seed, unsigned long long sequence,
                                          unsigned long long offset, curandStateXORWOW* state) {
  const unsigned int low = 1099087573u * (static_cast<unsigned int>(seed) ^ 0xaad26b49u);
  const unsigned int high = 2591861531u * (static_cast<unsigned int>(seed >> 32) ^ 0xf7dcefddu);
  *state = curandStateXORWOW();
  state->d = 6615241u + low + high;
  state->v[0] = 123456789u + low;
  state->v[1] = 362436069u ^ low;
  state->v[2] = 521288629u + high;
  state->v[3] = 88675123u ^ high;
  state->v[4] = 5783321u + low;
  skipahead_sequence(sequence, state);
  skipahead(offset, state);
}

#endif /* HEDDLE_CURAND_XORWOW_H_ */
