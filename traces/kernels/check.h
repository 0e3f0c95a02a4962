/* What a kernel's check program defines: an independent computation of the kernel's output on the host.
 *
 * A recipe names the program in `check { program: "check.cc" }`. Capture compiles it with the host compiler and calls
 * heddle_check once, after the last launch. It may be C or C++ and may use the standard library. A std::exception that
 * it throws means that the contents are wrong, and says why. */
#ifndef HEDDLE_TRACES_KERNELS_CHECK_H_
#define HEDDLE_TRACES_KERNELS_CHECK_H_

#include <stdint.h>

typedef struct {
  const char* name;   /* of the recipe's buffer */
  uint64_t count;     /* elements */
  const void* before; /* contents before the first launch */
  const void* after;  /* contents after the last launch */
} heddle_buffer;

#ifdef __cplusplus
extern "C"
#endif
    /* Returns 0 if the contents are right. Otherwise writes what is wrong, and where, to `message` (at most `size`
     * bytes with the terminating zero) and returns 1. */
    int
    heddle_check(const heddle_buffer* buffers, int count, char* message, int size);

#endif /* HEDDLE_TRACES_KERNELS_CHECK_H_ */
