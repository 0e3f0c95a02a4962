// A lock that threads of one warp take by spinning in front of the critical section: right where threads run
// independently of one another (as here, and since Volta), a livelock where a warp waits for all its lanes.
// capture: --resident-blocks 2
// marked: in a loop for another thread's write
// replay: --machine fermi_fixed --divergence nrec
// replay-refused: --machine fermi_fixed --divergence pdom | under pdom launch 0 (Count(int*, int*)) would never end
#include "check.h"

__global__ void Count(int* lock, int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  volatile int* value = counter;
  int sum = *value;
  // Long enough that others get their turn meanwhile.
  for (int i = 0; i < 600; ++i) sum += *value == -1 - i;
  *value = sum + 1;
  __threadfence();
  atomicExch(lock, 0);
}

int main() {
  int *lock, *counter, result = 0;
  CALL(cudaMalloc(&lock, sizeof(int)));
  CALL(cudaMalloc(&counter, sizeof(int)));
  CALL(cudaMemset(lock, 0, sizeof(int)));
  CALL(cudaMemset(counter, 0, sizeof(int)));
  Count<<<1, 32>>>(lock, counter);
  CALL(cudaMemcpy(&result, counter, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(result == 32);
  return Finish();
}
