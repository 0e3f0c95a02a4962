// What the test programs share: a failed check or call is printed with its place, and the program ends with 1.
#ifndef HEDDLE_TESTS_APPS_CUDA_CHECK_H_
#define HEDDLE_TESTS_APPS_CUDA_CHECK_H_

#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int check_failures = 0;

#define CALL(call)                                                                                          \
  do {                                                                                                      \
    cudaError_t call_error = (call);                                                                        \
    if (call_error != cudaSuccess) {                                                                        \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(call_error));                 \
      exit(1);                                                                                              \
    }                                                                                                       \
  } while (0)

#define EXPECT(condition)                                                        \
  do {                                                                           \
    if (!(condition)) {                                                          \
      if (++check_failures <= 10) printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                            \
  } while (0)

#define EXPECT_NEAR(a, b, tolerance)                                                                            \
  do {                                                                                                          \
    const double near_a = (a), near_b = (b);                                                                    \
    if (!(fabs(near_a - near_b) <= (tolerance)) && ++check_failures <= 10) {                                    \
      printf("%s:%d: %s is %.9g, not %.9g\n", __FILE__, __LINE__, #a, near_a, near_b);                          \
    }                                                                                                           \
  } while (0)

static inline int Finish(void) {
  printf(check_failures == 0 ? "all right\n" : "%d checks failed\n", check_failures);
  return check_failures == 0 ? 0 : 1;
}

#endif  // HEDDLE_TESTS_APPS_CUDA_CHECK_H_
