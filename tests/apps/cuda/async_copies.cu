// Asynchronous copies into shared memory, as instructions: sizes, bytes that are not read, groups in flight; and as
// functions of cuda_pipeline.h.
// nvcc: -arch=sm_80
#include <cuda_pipeline.h>

#include "check.h"

constexpr int kThreads = 64;

#define COPY(text, to, from, ...)                                                   \
  asm volatile(text ::"r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))), \
               "l"(from)__VA_OPT__(, ) __VA_ARGS__                                  \
               : "memory")

__global__ void Sizes(const int4* from, int* out) {
  __shared__ alignas(64) int4 wide[kThreads];
  __shared__ alignas(int4) int4 cached[kThreads];
  __shared__ int2 half[kThreads];
  __shared__ int word[kThreads];
  const int t = threadIdx.x;
  COPY("cp.async.cg.shared.global [%0], [%1], 16;", &wide[t], from + t);
  COPY("cp.async.ca.shared.global.L2::128B [%0], [%1], 16;", &cached[t], from + (t + 1) % kThreads);
  COPY("cp.async.ca.shared.global [%0], [%1], %2;", &half[t], &from[t].z, "n"(8));
  COPY("cp.async.ca.shared::cta.global [%0], [%1+4], 4;", &word[t], from + t);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  const int u = kThreads - 1 - t;
  out[t] = wide[u].x + wide[u].w + cached[u].y + half[u].x + half[u].y + word[u];
}

// What is not read is zero, and nothing lies where nothing is read.
__global__ void Parts(const int4* from, int* out) {
  __shared__ int4 part[kThreads], none[kThreads];
  __shared__ int ignored[kThreads];
  const int t = threadIdx.x;
  part[t] = none[t] = make_int4(-1, -1, -1, -1);
  ignored[t] = -1;
  COPY("cp.async.cg.shared.global [%0], [%1], 16, %2;", &part[t], from + t, "r"(t % 5 * 4));
  COPY("cp.async.ca.shared.global [%0], [%1], 16, 0;", &none[t], static_cast<const int4*>(nullptr));
  COPY("{ .reg .pred p; setp.ne.s32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 4, p; }", &ignored[t], from + t,
       "r"(t % 2));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  const int u = kThreads - 1 - t;
  out[t] = part[u].x + part[u].y + part[u].z + part[u].w + none[u].x + none[u].w + ignored[u];
}

// Under a guard, as libraries of kernels write it.
__global__ void Guarded(const int4* from, int* out) {
  __shared__ alignas(16) int4 tile[kThreads];
  const int t = threadIdx.x;
  tile[t] = make_int4(-5, 0, 0, 0);
  COPY(
      "{ .reg .pred p;\n setp.ne.b32 p, %2, 0;\n"
      "@p cp.async.cg.shared.global.L2::128B [%0], [%1], %3;\n"
      "@!p cp.async.cg.shared.global [%0], [%1], %3, %4;\n}",
      &tile[t], from + t, "r"(t % 3), "n"(16), "r"(t % 2 * 16));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = tile[kThreads - 1 - t].w;
}

// Three groups in flight: each wait lets the oldest arrive.
__global__ void Stages(const int* from, int* out, int tiles) {
  constexpr int kStages = 3;
  __shared__ int tile[kStages][kThreads];
  const int t = threadIdx.x;
  for (int i = 0; i < kStages - 1; ++i) {
    if (i < tiles) COPY("cp.async.ca.shared.global [%0], [%1], 4;", &tile[i][t], from + i * kThreads + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  int sum = 0;
  for (int i = 0; i < tiles; ++i) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    const int next = i + kStages - 1;
    if (next < tiles)
      COPY("cp.async.ca.shared.global [%0], [%1], 4;", &tile[next % kStages][t], from + next * kThreads + t);
    asm volatile("cp.async.commit_group;" ::: "memory");
    sum += (i + 1) * tile[i % kStages][kThreads - 1 - t];
  }
  out[t] = sum;
}

__global__ void Functions(const int4* from, int* out) {
  __shared__ int4 wide[kThreads];
  __shared__ int2 half[kThreads];
  __shared__ int word[kThreads];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&wide[t], from + t, 16);
  __pipeline_commit();
  __pipeline_memcpy_async(&half[t], &from[t].z, sizeof(int2));
  __pipeline_memcpy_async(&word[t], &from[t].y, sizeof(int), t % 2 * sizeof(int));
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  int sum = wide[kThreads - 1 - t].x;
  __pipeline_wait_prior(0);
  __syncthreads();
  out[t] = sum + half[(t + 1) % kThreads].y + word[(t + 1) % kThreads];
}

int main() {
  int4* from;
  int* out;
  CALL(cudaMallocManaged(&from, 4 * kThreads * sizeof(int4)));
  CALL(cudaMallocManaged(&out, kThreads * sizeof(int)));
  for (int i = 0; i < 4 * kThreads; ++i) from[i] = make_int4(i, 100 + i, 3 * i, 7 * i);
  Sizes<<<1, kThreads>>>(from, out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < kThreads; ++t) {
    const int u = kThreads - 1 - t;
    EXPECT(out[t] == u + 7 * u + 100 + (u + 1) % kThreads + 3 * u + 7 * u + 100 + u);
  }
  Parts<<<1, kThreads>>>(from, out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < kThreads; ++t) {
    const int u = kThreads - 1 - t, words = u % 5;
    const int read[] = {u, 100 + u, 3 * u, 7 * u};
    int sum = u % 2 != 0 ? 0 : u;
    for (int i = 0; i < words; ++i) sum += read[i];
    EXPECT(out[t] == sum);
  }
  Guarded<<<1, kThreads>>>(from, out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < kThreads; ++t) {
    const int u = kThreads - 1 - t;
    EXPECT(out[t] == (u % 3 != 0 || u % 2 != 0 ? 7 * u : 0));
  }
  const int* words = &from[0].x;
  Stages<<<1, kThreads>>>(words, out, 6);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < kThreads; ++t) {
    int sum = 0;
    for (int i = 0; i < 6; ++i) sum += (i + 1) * words[i * kThreads + kThreads - 1 - t];
    EXPECT(out[t] == sum);
  }
  Functions<<<1, kThreads>>>(from, out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < kThreads; ++t) {
    const int u = (t + 1) % kThreads;
    EXPECT(out[t] == kThreads - 1 - t + 7 * u + (u % 2 != 0 ? 0 : 100 + u));
  }
  return Finish();
}
