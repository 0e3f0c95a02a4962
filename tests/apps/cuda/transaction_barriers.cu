// Transaction barriers in shared memory: as instructions, as functions of cuda_awbarrier.h, and as cuda::barrier.
// nvcc: -arch=sm_80 -std=c++17
#include <cooperative_groups.h>
#include <cuda_awbarrier.h>

#include <cuda/barrier>

#include "check.h"

namespace cg = cooperative_groups;

constexpr int kThreads = 96;

__device__ unsigned int Place(const void* pointer) {
  return static_cast<unsigned int>(__cvta_generic_to_shared(pointer));
}

// Phases by token, with work between arrival and wait; a third of the threads leaves after the first.
__global__ void Phases(int* out) {
  __shared__ __mbarrier_t barrier;
  __shared__ int cells[2][kThreads];
  const int t = threadIdx.x;
  if (t == 0) __mbarrier_init(&barrier, kThreads);
  __syncthreads();
  cells[0][t] = t;
  __mbarrier_token_t token = t < 32 ? __mbarrier_arrive_and_drop(&barrier) : __mbarrier_arrive(&barrier);
  const unsigned int pending = __mbarrier_token_pending_count(token);
  while (!__mbarrier_test_wait(&barrier, token)) {
  }
  cells[1][t] = cells[0][kThreads - 1 - t];
  if (t >= 32) {
    token = __mbarrier_arrive(&barrier);
    while (!__mbarrier_test_wait(&barrier, token)) {
    }
    out[t] = cells[1][32 + (t + 1) % 64] + (pending >= 1 && pending <= kThreads ? 1000 : 0);
  } else {
    out[t] = cells[1][t];
  }
}

// Two stages, with barriers that say that a stage is full and empty; waits by parity, in loops as libraries write them.
__global__ void Stages(const int* from, int* out, int tiles) {
  __shared__ unsigned long long full[2], empty[2];
  __shared__ int tile[2][32];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  if (t == 0) {
    for (int i = 0; i < 2; ++i) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(Place(&full[i])) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(Place(&empty[i])), "r"(64) : "memory");
    }
  }
  __syncthreads();
  const auto wait = [](unsigned long long* barrier, unsigned int parity) {
    asm volatile(
        "{ .reg .pred done;\n"
        "WAIT: mbarrier.test_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra END; bra WAIT; END: }" ::"r"(Place(barrier)),
        "r"(parity)
        : "memory");
  };
  int sum = 0;
  for (int i = 0; i < tiles; ++i) {
    const int stage = i % 2, round = i / 2;
    if (warp == 0) {
      wait(&empty[stage], (round + 1) & 1);  // passes at once in the first round
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(Place(&tile[stage][lane])),
                   "l"(from + 32 * i + lane)
                   : "memory");
      asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(Place(&full[stage])) : "memory");
    } else {
      wait(&full[stage], round & 1);
      sum += tile[stage][31 - lane];
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(Place(&empty[stage])) : "memory");
    }
  }
  out[t] = sum;
}

__global__ void Classes(const int4* from, int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int4 tile[kThreads], own[kThreads];
  const cg::thread_block block = cg::this_thread_block();
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, block.size());
  block.sync();
  cuda::memcpy_async(block, tile, from, cuda::aligned_size_t<16>(sizeof(tile)), barrier);
  cuda::memcpy_async(&own[t], from + t, sizeof(int4), barrier);
  cuda::barrier<cuda::thread_scope_block>::arrival_token token = barrier.arrive();
  int sum = t;
  barrier.wait(static_cast<cuda::barrier<cuda::thread_scope_block>::arrival_token&&>(token));
  sum += tile[kThreads - 1 - t].y + own[(t + 1) % kThreads].x;
  barrier.arrive_and_wait();
  out[t] = sum;
}

// A function that the last thread of each phase calls, before the others go on: it adds up what they have written. A
// third of the threads leaves after the first phase.
struct AddUp {
  int* cells;
  int* sum;
  __device__ void operator()() const {
    *sum = 0;
    for (int i = 0; i < kThreads; ++i) *sum += cells[i];
  }
};
__global__ void Completions(int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block, AddUp>;
  __shared__ alignas(Barrier) char bytes[sizeof(Barrier)];
  __shared__ int cells[kThreads], sum;
  auto& barrier = *reinterpret_cast<Barrier*>(bytes);
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, kThreads, AddUp{cells, &sum});
  cells[t] = 0;
  __syncthreads();
  cells[t] = t;
  if (t % 3 == 0) {
    barrier.arrive_and_drop();
    return;
  }
  barrier.arrive_and_wait();
  const int first = sum;
  barrier.arrive_and_wait();  // nobody writes until all have read
  cells[t] = 1;
  barrier.wait(barrier.arrive());
  out[t] = first * 10000 + sum;
}

// The same as a closure, which is neither made without its captures nor assigned; made by init, and by the constructor.
__global__ void Closures(int factor, int* out) {
  __shared__ int cells[kThreads], sums[2];
  const int t = threadIdx.x;
  const int* const from = cells;
  const auto add_up_to = [=](int* to) {
    return [=] {
      *to = 0;
      for (int i = 0; i < kThreads; ++i) *to += factor * from[i];
    };
  };
  using Barrier = cuda::barrier<cuda::thread_scope_block, decltype(add_up_to(nullptr))>;
  __shared__ alignas(Barrier) char bytes[2][sizeof(Barrier)];
  auto* const first = reinterpret_cast<Barrier*>(bytes[0]);
  auto* const second = reinterpret_cast<Barrier*>(bytes[1]);
  if (t == 0) {
    init(first, kThreads, add_up_to(&sums[0]));
    new (second) Barrier(kThreads, add_up_to(&sums[1]));
  }
  __syncthreads();
  cells[t] = t;
  first->arrive_and_wait();
  cells[t] = 1;
  second->arrive_and_wait();
  out[t] = sums[0] + sums[1];
}

int main() {
  int* out;
  int4* from;
  CALL(cudaMallocManaged(&out, kThreads * sizeof(int)));
  CALL(cudaMallocManaged(&from, kThreads * sizeof(int4)));
  for (int i = 0; i < kThreads; ++i) from[i] = make_int4(i, 1000 * i, 5 - i, 7 * i);
  Phases<<<1, kThreads>>>(out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < kThreads; ++t) {
    const int expected = t < 32 ? kThreads - 1 - t : kThreads - 1 - (32 + (t + 1) % 64) + 1000;
    EXPECT(out[t] == expected);
  }
  const int* words = &from[0].x;
  Stages<<<1, kThreads>>>(words, out, 7);
  CALL(cudaDeviceSynchronize());
  for (int t = 32; t < kThreads; ++t) {
    int sum = 0;
    for (int i = 0; i < 7; ++i) sum += words[32 * i + 31 - t % 32];
    EXPECT(out[t] == sum);
  }
  Classes<<<2, kThreads>>>(from, out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < kThreads; ++t) EXPECT(out[t] == t + 1000 * (kThreads - 1 - t) + (t + 1) % kThreads);
  int* sums;
  CALL(cudaMallocManaged(&sums, kThreads * sizeof(int)));
  Completions<<<1, kThreads>>>(sums);
  CALL(cudaDeviceSynchronize());
  int all = 0, left = 0;
  for (int i = 0; i < kThreads; ++i) {
    all += i;
    left += i % 3 == 0 ? i : 1;
  }
  for (int i = 0; i < kThreads; ++i) EXPECT(i % 3 == 0 || sums[i] == all * 10000 + left);
  Closures<<<1, kThreads>>>(3, sums);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < kThreads; ++i) EXPECT(sums[i] == 3 * (all + kThreads));
  return Finish();
}
