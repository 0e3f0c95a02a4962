// cuda::pipeline: of a thread, and of a thread block whose warps have roles.
// nvcc: -arch=sm_80 -std=c++17
#include <cooperative_groups.h>

#include <cuda/pipeline>

#include "check.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 64;
constexpr int kStages = 2;

__global__ void OfAThread(const int* from, int* out, int tiles) {
  __shared__ int tile[kStages][kThreads];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  const int t = threadIdx.x;
  int sum = 0;
  for (int next = 0, i = 0; i < tiles; ++i) {
    for (; next < tiles && next < i + kStages; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tile[next % kStages][t], from + next * kThreads + t, sizeof(int), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    __syncthreads();
    sum += (i + 1) * tile[i % kStages][kThreads - 1 - t];
    __syncthreads();
    pipe.consumer_release();
  }
  out[t] = sum;
}

__global__ void OfABlock(const int4* from, int* out, int tiles) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ int4 tile[kStages][kThreads];
  const cg::thread_block block = cg::this_thread_block();
  cuda::pipeline<cuda::thread_scope_block> pipe = cuda::make_pipeline(block, &state);
  const int t = threadIdx.x;
  int sum = 0;
  for (int next = 0, i = 0; i < tiles; ++i) {
    for (; next < tiles && next < i + kStages; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[next % kStages], from + next * kThreads, cuda::aligned_size_t<16>(sizeof(tile[0])),
                         pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += (i + 1) * tile[i % kStages][kThreads - 1 - t].y;
    pipe.consumer_release();
  }
  out[t] = sum;
}

__global__ void WithRoles(const int* from, int* out, int tiles) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  __shared__ int tile[kStages][32];
  const cg::thread_block block = cg::this_thread_block();
  const bool produces = threadIdx.x < 32;
  cuda::pipeline<cuda::thread_scope_block> pipe =
      cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  const int lane = threadIdx.x % 32;
  int sum = 0;
  for (int i = 0; i < tiles; ++i) {
    if (produces) {
      pipe.producer_acquire();
      cuda::memcpy_async(&tile[i % kStages][lane], from + 32 * i + lane, sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum += (i + 1) * tile[i % kStages][31 - lane];
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

int main() {
  constexpr int kTiles = 5;
  int4* from;
  int* out;
  CALL(cudaMallocManaged(&from, kTiles * kThreads * sizeof(int4)));
  CALL(cudaMallocManaged(&out, kThreads * sizeof(int)));
  for (int i = 0; i < kTiles * kThreads; ++i) from[i] = make_int4(i, 3 * i, 11 - i, 2);
  const int* words = &from[0].x;
  OfAThread<<<1, kThreads>>>(words, out, kTiles);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < kThreads; ++t) {
    int sum = 0;
    for (int i = 0; i < kTiles; ++i) sum += (i + 1) * words[i * kThreads + kThreads - 1 - t];
    EXPECT(out[t] == sum);
  }
  OfABlock<<<2, kThreads>>>(from, out, kTiles);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < kThreads; ++t) {
    int sum = 0;
    for (int i = 0; i < kTiles; ++i) sum += (i + 1) * from[i * kThreads + kThreads - 1 - t].y;
    EXPECT(out[t] == sum);
  }
  WithRoles<<<1, kThreads>>>(words, out, kTiles);
  CALL(cudaDeviceSynchronize());
  for (int t = 32; t < kThreads; ++t) {
    int sum = 0;
    for (int i = 0; i < kTiles; ++i) sum += (i + 1) * words[32 * i + 31 - t % 32];
    EXPECT(out[t] == sum);
  }
  return Finish();
}
