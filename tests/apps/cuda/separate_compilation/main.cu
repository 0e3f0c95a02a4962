// The program of separate_compilation: its device code lies in three files.
#include "../check.h"
#include "numbers.h"

static __device__ int bias = 5;

static __global__ void Kernel(int* out) {
  const int weight = Weigh(1);
  atomicAdd(&shared_total, weight);
  out[threadIdx.x] = bias;
}

int CountCalls();

int main() {
  const int n = 32, factor = 3;
  int host[n], *out, total;
  CALL(cudaMalloc(&out, sizeof(host)));
  CALL(cudaMemcpyToSymbol(shared_factor, &factor, sizeof(factor)));
  RunShapes(out, n);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == 3 * i + 100);
  Kernel<<<2, n>>>(out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  CALL(cudaMemcpyFromSymbol(&total, shared_total, sizeof(total)));
  EXPECT(total == 2 * n * 3 && host[7] == 5);
  const int six = 6;
  CALL(cudaMemcpyToSymbol(bias, &six, sizeof(six)));
  Kernel<<<1, n>>>(out);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  EXPECT(host[0] == 6 && CountCalls() == 4 * n);
  return Finish();
}
