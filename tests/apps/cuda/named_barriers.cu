// Barriers by number: for a part of the block, for threads that only arrive, with number and count in registers, with a
// reduction.
// nvcc: -arch=sm_70
#include "check.h"

constexpr int kProducers = 64;
constexpr int kConsumers = 32;
constexpr int kRounds = 3;

// Producers fill a buffer and say so without waiting; consumers take it and give it back. Two buffers in turns.
__global__ void HandOver(int* out) {
  __shared__ int buffer[2][kProducers];
  const int t = threadIdx.x;
  for (int round = 0; round < kRounds; ++round) {
    const int slot = round % 2;
    const int full = 1 + slot, empty = 3 + slot;
    if (t < kProducers) {
      if (round >= 2) asm volatile("bar.sync %0, 96;" ::"r"(empty) : "memory");
      buffer[slot][t] = 1000 * round + t;
      asm volatile("bar.arrive %0, %1;" ::"r"(full), "r"(kProducers + kConsumers) : "memory");
    } else {
      asm volatile("barrier.sync %0, %1;" ::"r"(full), "n"(96) : "memory");
      int sum = 0;
      for (int i = t - kProducers; i < kProducers; i += kConsumers) sum += buffer[slot][i];
      out[round * kConsumers + t - kProducers] = sum;
      if (round + 2 < kRounds) asm volatile("bar.arrive %0, 96;" ::"r"(empty) : "memory");
    }
  }
}

// Each half of the block meets at a barrier of its own.
__global__ void Halves(int* out, int half) {
  __shared__ int cells[128];
  const int t = threadIdx.x, mine = t / half;
  cells[t] = t;
  __barrier_sync_count(mine + 5, half);
  out[t] = cells[mine * half + (t + 1) % half];
  __barrier_sync(0);
  if (t == 0) cells[0] = -1;
  __barrier_sync(static_cast<unsigned int>(half) / 16);
  out[t] += cells[0];
}

__global__ void Reductions(int* out) {
  const int t = threadIdx.x, group = t / 64;
  int count, all, any;
  asm volatile(
      "{ .reg .pred p, q, r; setp.ne.s32 p, %3, 0;\n"
      "barrier.red.popc.u32 %0, %4, 64, p;\n"
      "barrier.red.and.pred q, %4, 64, p; selp.b32 %1, 1, 0, q;\n"
      "bar.red.or.pred r, 7, p; selp.b32 %2, 1, 0, r; }"
      : "=r"(count), "=r"(all), "=r"(any)
      : "r"(static_cast<int>(group == 1 || t % 4 == 0)), "r"(1 + group)
      : "memory");
  out[t] = count + 1000 * all + 10000 * any;
}

int main() {
  int* out;
  CALL(cudaMallocManaged(&out, 1024 * sizeof(int)));
  HandOver<<<2, kProducers + kConsumers>>>(out);
  CALL(cudaDeviceSynchronize());
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kConsumers; ++i) EXPECT(out[round * kConsumers + i] == 2 * (1000 * round + i) + kConsumers);
  }
  Halves<<<1, 128>>>(out, 64);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < 128; ++t) EXPECT(out[t] == t / 64 * 64 + (t + 1) % 64 - 1);
  Reductions<<<1, 128>>>(out);
  CALL(cudaDeviceSynchronize());
  for (int t = 0; t < 128; ++t) EXPECT(out[t] == (t < 64 ? 16 : 64 + 1000) + 10000);
  return Finish();
}
