/* Philox4x32-10: ten rounds of a cipher over a counter (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3", SC 2011). A counter of 128 bits gives four numbers; the key is the seed. */
#ifndef HEDDLE_CURAND_PHILOX_H_
#define HEDDLE_CURAND_PHILOX_H_

#include "states.h"

namespace heddle_curand {

static inline __device__ uint4 Philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned int high0 = __umulhi(0xD2511F53u, counter.x), low0 = 0xD2511F53u * counter.x;
    const unsigned int high1 = __umulhi(0xCD9E8D57u, counter.z), low1 = 0xCD9E8D57u * counter.z;
    counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

/* Adds to the lower 64 bits of the counter, with the carry into the upper ones. */
static inline __device__ void PhiloxAdvance(curandStatePhilox4_32_10* state, unsigned long long n) {
  const unsigned long long before = state->ctr.x | static_cast<unsigned long long>(state->ctr.y) << 32;
  const unsigned long long after = before + n;
  state->ctr.x = static_cast<unsigned int>(after);
  state->ctr.y = static_cast<unsigned int>(after >> 32);
  if (after < before && ++state->ctr.z == 0) ++state->ctr.w;
  state->output = Philox(state->ctr, state->key);
}

} /* namespace heddle_curand */

static inline __device__ unsigned int curand(curandStatePhilox4_32_10* state) {
  const uint4 all = state->output;
  const unsigned int at = state->STATE;
  const unsigned int number = at == 0 ? all.x : at == 1 ? all.y : at == 2 ? all.z : all.w;
  if (++state->STATE == 4) {
    state->STATE = 0;
    heddle_curand::PhiloxAdvance(state, 1);
  }
  return number;
}

static inline __device__ uint4 curand4(curandStatePhilox4_32_10* state) {
  const uint4 first = state->output;
  heddle_curand::PhiloxAdvance(state, 1);
  const uint4 next = state->output;
  switch (state->STATE) {
    case 0:
      return first;
    case 1:
      return make_uint4(first.y, first.z, first.w, next.x);
    case 2:
      return make_uint4(first.z, first.w, next.x, next.y);
    default:
      return make_uint4(first.w, next.x, next.y, next.z);
  }
}

static inline __device__ void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
  state->STATE += static_cast<unsigned int>(n & 3);
  n = n / 4 + state->STATE / 4;
  state->STATE %= 4;
  heddle_curand::PhiloxAdvance(state, n);
}

/* A sequence has 2^66 numbers: the lower 64 bits of the counter. */
static inline __device__ void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
  const unsigned long long sum = n + (state->ctr.z | static_cast<unsigned long long>(state->ctr.w) << 32);
  state->ctr.z = static_cast<unsigned int>(sum);
  state->ctr.w = static_cast<unsigned int>(sum >> 32);
  state->output = heddle_curand::Philox(state->ctr, state->key);
}

static inline __device__ void curand_init(unsigned long long seed, unsigned long long sequence,
                                          unsigned long long offset, curandStatePhilox4_32_10* state) {
  *state = curandStatePhilox4_32_10();
  state->key = make_uint2(static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32));
  skipahead_sequence(sequence, state);
  skipahead(offset, state);
}

#endif /* HEDDLE_CURAND_PHILOX_H_ */
