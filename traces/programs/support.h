// What our programs share: calls that must succeed, and the choice among a program's sizes.
#ifndef HEDDLE_TRACES_PROGRAMS_SUPPORT_H_
#define HEDDLE_TRACES_PROGRAMS_SUPPORT_H_

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// Ends the program if a call of the runtime fails.
#define CALL(call)                                                                          \
  do {                                                                                      \
    const cudaError_t call_error = (call);                                                  \
    if (call_error != cudaSuccess) {                                                        \
      printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(call_error)); \
      exit(1);                                                                              \
    }                                                                                       \
  } while (0)

// Which size the command line names: 0 = tiny, 1 = small (also if it names none), 2 = medium.
inline int ChosenSize(int argc, char** argv) {
  const char* const names[] = {"tiny", "small", "medium"};
  if (argc < 2) return 1;
  for (int i = 0; i < 3; ++i) {
    if (argc == 2 && strcmp(argv[1], names[i]) == 0) return i;
  }
  printf("usage: %s [tiny|small|medium]\n", argv[0]);
  exit(2);
}

#endif  // HEDDLE_TRACES_PROGRAMS_SUPPORT_H_
