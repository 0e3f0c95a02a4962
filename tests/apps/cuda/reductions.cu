// Barriers that count and vote, and a tree of sums in shared memory over several blocks.
#include "check.h"

template <int kThreads>
__global__ void Sum(const int* in, int* out, int n) {
  __shared__ int partial[kThreads];
  int sum = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) sum += in[i];
  partial[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(out, partial[0]);
}

__global__ void Votes(const int* in, int* out) {
  const int value = in[threadIdx.x];
  const int count = __syncthreads_count(value % 3 == 0);
  const int all = __syncthreads_and(value < 1000);
  const int any = __syncthreads_or(value == 77);
  const int none = __syncthreads_or(value == -1);
  out[threadIdx.x] = count * 1000 + (all != 0) * 100 + (any != 0) * 10 + (none != 0);
}

int main() {
  const int n = 5000;
  static int host[n];
  int expected = 0;
  for (int i = 0; i < n; ++i) expected += host[i] = (i * 37) % 101 - 50;
  int *in, *out, sum;
  CALL(cudaMalloc(&in, sizeof(host)));
  CALL(cudaMalloc(&out, 128 * sizeof(int)));
  CALL(cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice));
  CALL(cudaMemset(out, 0, sizeof(int)));
  Sum<128><<<4, 128>>>(in, out, n);
  CALL(cudaMemcpy(&sum, out, sizeof(sum), cudaMemcpyDeviceToHost));
  EXPECT(sum == expected);
  int ramp[128], back[128];
  for (int i = 0; i < 128; ++i) ramp[i] = i;
  CALL(cudaMemcpy(in, ramp, sizeof(ramp), cudaMemcpyHostToDevice));
  Votes<<<1, 128>>>(in, out);
  CALL(cudaMemcpy(back, out, sizeof(back), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 128; ++i) EXPECT(back[i] == 43110);
  return Finish();
}
