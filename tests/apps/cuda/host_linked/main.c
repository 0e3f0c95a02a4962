/* The host's half, in C. */
#include <cuda_runtime_api.h>
#include <stdio.h>

int Square(int* values, int count);

int main(void) {
  int values[100], i;
  for (i = 0; i < 100; ++i) values[i] = i;
  if (Square(values, 100) != cudaSuccess) return 1;
  for (i = 0; i < 100; ++i) {
    if (values[i] != i * i + 1) return 2;
  }
  puts("all right");
  return 0;
}
