// A lock per bucket of a hash table, taken by threads of one warp too: each spins until it has its turn.
#include "check.h"

const int kBuckets = 8, kRoom = 64;

__global__ void Insert(int* locks, int* sizes, int* contents, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int bucket = (i * 5 + 3) % kBuckets;
  bool done = false;
  while (!done) {
    if (atomicCAS(&locks[bucket], 0, 1) == 0) {
      volatile int* size = &sizes[bucket];
      contents[bucket * kRoom + *size] = i;
      *size = *size + 1;
      __threadfence();
      atomicExch(&locks[bucket], 0);
      done = true;
    }
  }
}

int main() {
  const int n = 256;
  int *locks, *sizes, *contents;
  CALL(cudaMalloc(&locks, kBuckets * sizeof(int)));
  CALL(cudaMalloc(&sizes, kBuckets * sizeof(int)));
  CALL(cudaMalloc(&contents, kBuckets * kRoom * sizeof(int)));
  CALL(cudaMemset(locks, 0, kBuckets * sizeof(int)));
  CALL(cudaMemset(sizes, 0, kBuckets * sizeof(int)));
  Insert<<<n / 64, 64>>>(locks, sizes, contents, n);
  int host_sizes[kBuckets], host[kBuckets][kRoom], seen[n] = {};
  CALL(cudaMemcpy(host_sizes, sizes, sizeof(host_sizes), cudaMemcpyDeviceToHost));
  CALL(cudaMemcpy(host, contents, sizeof(host), cudaMemcpyDeviceToHost));
  for (int b = 0; b < kBuckets; ++b) {
    EXPECT(host_sizes[b] == n / kBuckets);
    for (int k = 0; k < host_sizes[b]; ++k) {
      EXPECT((host[b][k] * 5 + 3) % kBuckets == b);
      ++seen[host[b][k]];
    }
  }
  for (int i = 0; i < n; ++i) EXPECT(seen[i] == 1);
  return Finish();
}
