// printf of kernels: formats, order among threads, with the host's own output around it.
#include "check.h"

__global__ void Say(int base, const char* word) {
  if (threadIdx.x % 2 == 0) printf("thread %d: %5.2f %s %#x %lld %c\n", threadIdx.x, base * 0.5, word, 255, -3ll, 'z');
}
__global__ void Percent() { printf("100%%\n"); }

int main() {
  char* word;
  CALL(cudaMallocManaged(&word, 8));
  snprintf(word, 8, "hello");
  printf("before\n");
  Say<<<1, 6>>>(5, word);
  CALL(cudaDeviceSynchronize());
  printf("between\n");
  Percent<<<2, 1>>>();
  CALL(cudaDeviceSynchronize());
  return Finish();
}
