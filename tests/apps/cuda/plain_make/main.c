/* Host part in C, which also asks the runtime from C. */
#include <cuda_runtime_api.h>
#include <stdio.h>

#include "program.h"

int main(void) {
  int data[SIZE], i, wrong = 0;
  struct cudaDeviceProp properties;
  double start = Now();
  for (i = 0; i < SIZE; ++i) data[i] = i - 7;
  if (RunOnDevice(data, SIZE) != 0) return 1;
  for (i = 0; i < SIZE; ++i) wrong += data[i] != 4 * (i - 7);
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || properties.major != 5) ++wrong;
  if (Now() < start) ++wrong;
  printf(wrong == 0 ? "all right\n" : "%d wrong\n", wrong);
  return wrong != 0;
}
