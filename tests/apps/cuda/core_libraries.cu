// nvcc: -std=c++17 -arch=sm_80
// What is in a toolkit's folder of libraries of headers: libcu++'s standard library and atomics, a semaphore and a
// latch that threads of a block wait at, beside our own <cuda/barrier>.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/functional>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

#include "check.h"

// Adds up by atomic operations of several orders; `most`: how many threads were within the semaphore at once.
__global__ void Count(int* sums, int* most) {
  using Latch = cuda::latch<cuda::thread_scope_block>;
  using Semaphore = cuda::counting_semaphore<cuda::thread_scope_block, 4>;
  __shared__ alignas(Latch) char latch_bytes[sizeof(Latch)];
  __shared__ alignas(Semaphore) char semaphore_bytes[sizeof(Semaphore)];
  __shared__ cuda::atomic<int, cuda::thread_scope_block> inside;
  auto& latch = *reinterpret_cast<Latch*>(latch_bytes);
  auto& semaphore = *reinterpret_cast<Semaphore*>(semaphore_bytes);
  if (threadIdx.x == 0) {
    new (&latch) Latch(blockDim.x);
    new (&semaphore) Semaphore(4);
    inside.store(0, cuda::std::memory_order_relaxed);
  }
  __syncthreads();
  const cuda::std::array<int, 3> steps{1, 2, 3};
  cuda::atomic_ref<int, cuda::thread_scope_device> sum(sums[0]);
  sum.fetch_add(steps[threadIdx.x % 3], cuda::std::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_device>(sums[1]).fetch_max(static_cast<int>(threadIdx.x));
  latch.arrive_and_wait();
  const int all = sum.load(cuda::std::memory_order_acquire);  // of the whole block
  semaphore.acquire();
  const int now = inside.fetch_add(1) + 1;
  cuda::atomic_ref<int, cuda::thread_scope_device>(*most).fetch_max(now);
  inside.fetch_sub(1);
  semaphore.release();
  if (threadIdx.x == blockDim.x - 1) sums[2] = cuda::std::plus<int>()(all, 1);
}

int main() {
  static_assert(cuda::std::is_same<cuda::std::common_type_t<int, long>, long>::value, "");
  int* values;
  CALL(cudaMallocManaged(&values, 4 * sizeof(int)));
  for (int i = 0; i < 4; ++i) values[i] = 0;
  Count<<<1, 96>>>(values, values + 3);
  CALL(cudaDeviceSynchronize());
  EXPECT(values[0] == 192);
  EXPECT(values[1] == 95);
  EXPECT(values[2] == 193);
  EXPECT(values[3] >= 1 && values[3] <= 4);
  CALL(cudaFree(values));
  return Finish();
}
