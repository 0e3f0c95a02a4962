// The last steps of a reduction as programs for devices without independent thread scheduling have them: the threads of the
// last warp add up without barriers, through volatile shared memory. Prints the sum, which is right only in lockstep.
#include "../check.h"

__global__ void Sum(const int* in, int* out) {
  __shared__ volatile int s[128];
  const int t = threadIdx.x;
  s[t] = in[blockIdx.x * 128 + t];
  __syncthreads();
  if (t < 64) s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
    s[t] += s[t + 4];
    s[t] += s[t + 2];
    s[t] += s[t + 1];
  }
  if (t == 0) atomicAdd(out, s[0]);
}

int main() {
  const int count = 128 * 5;
  int host[count], total = 0, *in, *out;
  for (int i = 0; i < count; ++i) host[i] = i * i % 97;
  CALL(cudaMalloc(&in, sizeof(host)));
  CALL(cudaMalloc(&out, sizeof(int)));
  CALL(cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice));
  CALL(cudaMemset(out, 0, sizeof(int)));
  Sum<<<5, 128>>>(in, out);
  CALL(cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i) total -= host[i];
  printf(total == 0 ? "right\n" : "wrong\n");
  return 0;
}
