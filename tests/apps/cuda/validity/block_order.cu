// Blocks that read what the block before them has written, without waiting for it: right where blocks run one after the
// other. And blocks that only exchange data with their own threads, behind barriers.
#include <cstdio>

constexpr int kBlocks = 24;
constexpr int kThreads = 64;

__host__ __device__ unsigned Work(unsigned value) {
  for (int i = 0; i < 50; ++i) value = value * 1103515245u + 12345u + (value >> 3);
  return value;
}

__global__ void Chain(volatile unsigned* data) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  const unsigned before = blockIdx.x == 0 ? 1 : data[i - kThreads];  // of the block before
  data[i] = Work(before);                                       // for the next block
}

__global__ void Exchange(unsigned* data) {
  __shared__ unsigned words[kThreads];
  const int base = blockIdx.x * kThreads;
  const int t = threadIdx.x;
  words[t] = t;
  data[base + t] = t;
  __syncthreads();
  const unsigned sum = words[kThreads - 1 - t] + data[base + kThreads - 1 - t];
  __syncthreads();
  data[base + t] = sum;
}

int main() {
  static unsigned host[kBlocks * kThreads];
  unsigned* data = nullptr;
  cudaMalloc(&data, sizeof(host));
  Chain<<<kBlocks, kThreads>>>(data);
  cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  unsigned expected = 1;
  bool right = true;
  for (int block = 0; block < kBlocks; ++block) {
    expected = Work(expected);
    for (int t = 0; t < kThreads; ++t) right &= host[block * kThreads + t] == expected;
  }
  Exchange<<<kBlocks, kThreads>>>(data);
  cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  for (int i = 0; i < kBlocks * kThreads; ++i) right &= host[i] == 2u * (kThreads - 1 - i % kThreads);
  std::puts(right ? "right" : "wrong");
  return 0;
}
