// __managed__ variables: host and device see what the other has written.
#include "check.h"

__managed__ int total = 3;
__managed__ float values[8];

__global__ void Double(int factor) {
  values[threadIdx.x] *= 2;
  if (threadIdx.x == 0) total *= factor;
}
__global__ void Through(int* pointer) { *pointer += 1; }

int main() {
  EXPECT(total == 3);
  for (int i = 0; i < 8; ++i) values[i] = i + 0.5f;
  Double<<<1, 8>>>(7);
  CALL(cudaDeviceSynchronize());
  EXPECT(total == 21);
  for (int i = 0; i < 8; ++i) EXPECT(values[i] == 2 * i + 1);
  total = 100;
  Through<<<1, 1>>>(&total);
  CALL(cudaDeviceSynchronize());
  EXPECT(total == 101);
  return Finish();
}
