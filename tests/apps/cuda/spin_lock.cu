// A lock in front of a short critical section: threads that are recorded one after the other never wait for it, while the
// threads of a warp that take it together do.
// marked: threads of a warp take one lock together at line 10
// replay: --machine fermi_fixed --divergence nrec
// replay: --machine fermi_fixed --divergence pdom,nrec
// replay-refused: --machine fermi_fixed --divergence pdom | under pdom launch 0 (Count(int*, int*)) would never end
#include "check.h"

__global__ void Count(int* lock, int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  ++*counter;
  __threadfence();
  atomicExch(lock, 0);
}

int main() {
  int *lock, *counter, result = 0;
  CALL(cudaMalloc(&lock, sizeof(int)));
  CALL(cudaMalloc(&counter, sizeof(int)));
  CALL(cudaMemset(lock, 0, sizeof(int)));
  CALL(cudaMemset(counter, 0, sizeof(int)));
  Count<<<2, 64>>>(lock, counter);
  CALL(cudaMemcpy(&result, counter, sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(result == 128);
  return Finish();
}
