/* The states of the generators, which programs declare on the host too. As large as the vendor's. Behind
 * the vector types. */
#ifndef HEDDLE_CURAND_STATES_H_
#define HEDDLE_CURAND_STATES_H_

struct curandStateXORWOW {
  unsigned int d;    /* Weyl sequence */
  unsigned int v[5]; /* the oldest first */
  int kept_kind;     /* see curand/distributions.h */
  int kept_double_kind;
  float kept;
  double kept_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStateXORWOW curandState_t;

struct curandStateMRG32k3a {
  unsigned int s1[3]; /* the oldest first */
  unsigned int s2[3];
  int kept_kind; /* see curand/distributions.h */
  int kept_double_kind;
  float kept;
  double kept_double;
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

struct curandStatePhilox4_32_10 {
  uint4 ctr;
  uint4 output; /* of ctr */
  uint2 key;
  unsigned int STATE; /* how many of output have been handed out, 0 to 3 */
  int kept_kind;      /* see curand/distributions.h */
  int kept_double_kind;
  float kept;
  double kept_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

#endif /* HEDDLE_CURAND_STATES_H_ */
