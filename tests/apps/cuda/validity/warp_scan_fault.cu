// A scan by a warp without synchronization gives the place that a value goes to: right in lockstep only. Thread by
// thread the place is one that does not exist.
#include <cuda_runtime.h>
#include <stdio.h>

__device__ unsigned int Scan(unsigned int value, unsigned int* s) {
  int i = 2 * threadIdx.x - (threadIdx.x & 31);
  s[i] = 0;
  i += 32;
  s[i] = value;
  s[i] += s[i - 1];
  s[i] += s[i - 2];
  s[i] += s[i - 4];
  s[i] += s[i - 8];
  s[i] += s[i - 16];
  return s[i] - value;
}

__global__ void Compact(const unsigned int* in, unsigned int* out) {
  __shared__ unsigned int s[64], total;
  const unsigned int keep = in[threadIdx.x] & 1, at = Scan(keep, s);
  if (threadIdx.x == 31) total = at + keep;
  __syncthreads();
  const unsigned int to = keep != 0 ? at : total + threadIdx.x - at;
  out[static_cast<size_t>(to) << 20 >> 20] = in[threadIdx.x];  // below 32 if the scan is right
}

int main() {
  unsigned int host[32], *in, *out;
  for (unsigned int i = 0; i < 32; ++i) host[i] = i * 2654435761u >> 7;
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, sizeof(host));
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  Compact<<<1, 32>>>(in, out);
  printf("%s\n", cudaDeviceSynchronize() == cudaSuccess ? "right" : "wrong");
}
