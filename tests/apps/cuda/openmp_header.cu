// omp.h is found without -fopenmp, as with nvcc; regions of the file run on one thread then.
// nvcc: -Xlinker -lgomp
#include <omp.h>

#include "check.h"

__global__ void Fill(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
  int* out;
  CALL(cudaMallocManaged(&out, 64 * sizeof(int)));
  Fill<<<1, 64>>>(out);
  CALL(cudaDeviceSynchronize());
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 64; ++i) sum += out[i];
  EXPECT(sum == 2016 && omp_get_max_threads() > 0 && omp_get_wtime() > 0);
  return Finish();
}
