// Quicksort whose kernels launch kernels: a block divides its range into smaller, equal and larger keys, and launches
// one block for either side; short ranges are sorted by counting.
//
// Stands for dynamic parallelism: a tree of launches that only the data decide, thousands of them, each of one block;
// ranks by ballots and running counts between barriers; one thread that launches while the others have nothing to do.
// A block's threads take keys in turn and keep their order, so that nothing depends on the order of threads
// (D. Cederman, P. Tsigas, A practical quicksort algorithm for graphics processors, 2009).
//
// nvcc: -rdc=true
// replay: --divergence pdom,its,dwf
#include <algorithm>
#include <vector>

#include "../support.h"

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kWarp = 32;
constexpr int kBlock = 128;   // threads that divide a range
constexpr int kShort = 64;    // ranges of so many keys are sorted by counting
constexpr int kDeepest = 20;  // and so are all at this depth; a device allows 24 levels of launches

__device__ inline unsigned lanes_before() { return (1u << (threadIdx.x % kWarp)) - 1; }

// A key's place is the number of those that are smaller, or equal and in front of it. Any number of threads.
__global__ void sort_by_counting(const int* from, int* sorted, int begin, int end) {
  for (int i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const int key = from[i];
    int place = begin;
    for (int j = begin; j < end; ++j) place += from[j] < key || (from[j] == key && j < i) ? 1 : 0;
    sorted[place] = key;
  }
}

// Puts the keys of [begin, end) in order: reads `from`, has `other` for what it divides, and leaves them in
// `sorted`; what is in `from` is lost.
__global__ void quicksort(int* from, int* other, int* sorted, int begin, int end, int depth);

__device__ void launch_part(int* from, int* other, int* sorted, int begin, int end, int depth) {
  if (begin >= end) return;
  if (end - begin <= kShort || depth >= kDeepest) {
    sort_by_counting<<<1, kShort, 0, cudaStreamFireAndForget>>>(from, sorted, begin, end);
  } else {
    quicksort<<<1, kBlock, 0, cudaStreamFireAndForget>>>(from, other, sorted, begin, end, depth);
  }
}

__global__ void quicksort(int* from, int* other, int* sorted, int begin, int end, int depth) {
  __shared__ int smaller, equal;  // how many keys are; the rest is larger
  __shared__ int warp_smaller[kBlock / kWarp], warp_equal[kBlock / kWarp];
  const int warp = threadIdx.x / kWarp;
  const int a = from[begin];
  const int b = from[begin + (end - begin) / 2];
  const int c = from[end - 1];
  const int pivot = max(min(a, b), min(max(a, b), c));

  if (threadIdx.x == 0) smaller = equal = 0;
  __syncthreads();
  for (int i = begin + threadIdx.x; i < end; i += kBlock) {
    if (from[i] < pivot) atomicAdd(&smaller, 1);
    if (from[i] == pivot) atomicAdd(&equal, 1);
  }
  __syncthreads();
  const int first_equal = begin + smaller;
  const int first_larger = first_equal + equal;

  int smaller_before = begin;
  int equal_before = first_equal;
  for (int first = begin; first < end; first += kBlock) {
    const int i = first + threadIdx.x;
    const bool valid = i < end;
    const int key = valid ? from[i] : pivot;
    const unsigned is_smaller = __ballot_sync(kAllLanes, valid && key < pivot);
    const unsigned is_equal = __ballot_sync(kAllLanes, valid && key == pivot);
    if (threadIdx.x % kWarp == 0) {
      warp_smaller[warp] = __popc(is_smaller);
      warp_equal[warp] = __popc(is_equal);
    }
    __syncthreads();
    int smaller_place = smaller_before + __popc(is_smaller & lanes_before());
    int equal_place = equal_before + __popc(is_equal & lanes_before());
    for (int w = 0; w < kBlock / kWarp; ++w) {
      if (w < warp) {
        smaller_place += warp_smaller[w];
        equal_place += warp_equal[w];
      }
      smaller_before += warp_smaller[w];
      equal_before += warp_equal[w];
    }
    if (valid && key < pivot) other[smaller_place] = key;
    if (valid && key == pivot) sorted[equal_place] = key;
    // In front of a larger key are all larger ones before it: those that are neither smaller nor equal.
    const int larger_place = first_larger + (i - begin) - (smaller_place - begin) - (equal_place - first_equal);
    if (valid && key > pivot) other[larger_place] = key;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    launch_part(other, from, sorted, begin, first_equal, depth + 1);
    launch_part(other, from, sorted, first_larger, end, depth + 1);
  }
}

int main(int argc, char** argv) {
  const int counts[] = {400, 8000, 60000};
  const int count = counts[ChosenSize(argc, argv)];
  std::vector<int> keys(count);
  unsigned state = 149;
  for (int& key : keys) {
    state = state * 1664525u + 1013904223u;
    key = static_cast<int>((state >> 8) % (count / 2));  // some keys come several times
  }
  const size_t bytes = count * sizeof(int);
  int *first, *second, *sorted;
  CALL(cudaMalloc(&first, bytes));
  CALL(cudaMalloc(&second, bytes));
  CALL(cudaMalloc(&sorted, bytes));
  CALL(cudaMemcpy(first, keys.data(), bytes, cudaMemcpyHostToDevice));
  // A device keeps room for 2,048 launches that wait; this makes about one per twenty keys in all.
  CALL(cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 2048 + count / 8));
  quicksort<<<1, kBlock>>>(first, second, sorted, 0, count, 0);
  CALL(cudaGetLastError());
  CALL(cudaDeviceSynchronize());
  std::vector<int> result(count);
  CALL(cudaMemcpy(result.data(), sorted, bytes, cudaMemcpyDeviceToHost));
  CALL(cudaFree(first));
  CALL(cudaFree(second));
  CALL(cudaFree(sorted));

  std::sort(keys.begin(), keys.end());
  for (int i = 0; i < count; ++i) {
    if (result[i] != keys[i]) {
      printf("key %d is %d, expected %d\n", i, result[i], keys[i]);
      return 1;
    }
  }
  printf("%d keys are in order\n", count);
  return 0;
}
