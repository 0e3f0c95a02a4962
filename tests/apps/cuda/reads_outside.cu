// A stencil that reads a row in front of its array, which is the first allocation; the value does not count.
// native: HEDDLE_ALLOW_BOUNDS=1
// capture: --allow-bounds
// marked: launch 0 (Smooth(float const*, float*, int, float)): 256 reads outside all allocations, the first at line 10
// replay: --machine fermi_fixed
#include "check.h"

__global__ void Smooth(const float* in, float* out, int n, float weight) {
  const int i = blockIdx.x * n + threadIdx.x;
  const float north = in[i - n * 1000];
  out[i] = north * weight + in[i];
}

int main() {
  const int n = 64, rows = 4;
  float *in, *out, host[n * rows];
  for (int i = 0; i < n * rows; ++i) host[i] = i;
  CALL(cudaMalloc(&in, sizeof(host)));
  CALL(cudaMalloc(&out, sizeof(host)));
  CALL(cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice));
  Smooth<<<rows, n>>>(in, out, n, 0);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n * rows; ++i) EXPECT(host[i] == i);
  return Finish();
}
