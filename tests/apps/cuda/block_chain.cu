// Blocks hand a sum on from one to the next, last block first: each spins until its turn has come. Needs more than one
// live block; natively and captured with all of them.
// native: HEDDLE_RESIDENT_BLOCKS=8
// capture: --resident-blocks 8
// marked: threads waited 7 times
#include "check.h"

__global__ void Chain(volatile int* ready, volatile int* sums, const int* values) {
  const int next = blockIdx.x + 1;
  int sum = values[blockIdx.x];
  if (next < static_cast<int>(gridDim.x)) {
    while (ready[next] == 0) {
    }
    sum += sums[next];
  }
  sums[blockIdx.x] = sum;
  __threadfence();
  ready[blockIdx.x] = 1;
}

int main() {
  const int blocks = 8;
  int values[blocks], sums[blocks], *ready, *device_sums, *device_values;
  for (int i = 0; i < blocks; ++i) values[i] = 3 * i + 1;
  CALL(cudaMalloc(&ready, sizeof(values)));
  CALL(cudaMalloc(&device_sums, sizeof(values)));
  CALL(cudaMalloc(&device_values, sizeof(values)));
  CALL(cudaMemset(ready, 0, sizeof(values)));
  CALL(cudaMemcpy(device_values, values, sizeof(values), cudaMemcpyHostToDevice));
  Chain<<<blocks, 1>>>(ready, device_sums, device_values);
  CALL(cudaMemcpy(sums, device_sums, sizeof(sums), cudaMemcpyDeviceToHost));
  int expected = 0;
  for (int i = blocks - 1; i >= 0; --i) EXPECT(sums[i] == (expected += values[i]));
  return Finish();
}
