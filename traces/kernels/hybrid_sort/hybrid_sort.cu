// Sorts keys: into buckets first, then every bucket by merging ever longer runs, one pair of runs per thread.
//
// Stands for programs whose passes are unlike one another: scattering with atomics, sorting four keys with compares and
// exchanges, and merges in which fewer and fewer threads have longer and longer work, in buckets of unequal size. Places
// within a bucket depend on the order of the threads until it is sorted.

// Low buckets cover many keys, high ones few.
__device__ inline int bucket_of(int key, int shift) {
  const unsigned square = static_cast<unsigned>(key) * static_cast<unsigned>(key);
  return static_cast<int>(square >> shift);
}

__global__ void count_buckets(const int* keys, int* counts, int count, int shift) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(&counts[bucket_of(keys[i], shift)], 1);
}

// starts[b] = first place of bucket b; buckets begin at multiples of four. One block, a thread per bucket.
__global__ void prefix(const int* counts, int* starts) {
  extern __shared__ int sums[];
  const int t = threadIdx.x;
  sums[t] = (counts[t] + 3) / 4 * 4;
  __syncthreads();
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    const int other = t >= distance ? sums[t - distance] : 0;
    __syncthreads();
    sums[t] += other;
    __syncthreads();
  }
  starts[t + 1] = sums[t];
  if (t == 0) starts[0] = 0;
}

__global__ void scatter(const int* keys, const int* starts, int* taken, int* sorted, int count, int shift) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int bucket = bucket_of(keys[i], shift);
  sorted[starts[bucket] + atomicAdd(&taken[bucket], 1)] = keys[i];
}

// Four keys per thread; places that no bucket fills hold the largest number.
__global__ void sort_fours(int* sorted, int fours) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= fours) return;
  int key[4];
  for (int k = 0; k < 4; ++k) key[k] = sorted[4 * i + k];
  for (int end = 3; end > 0; --end) {
    for (int k = 0; k < end; ++k) {
      if (key[k] > key[k + 1]) {
        const int swapped = key[k];
        key[k] = key[k + 1];
        key[k + 1] = swapped;
      }
    }
  }
  for (int k = 0; k < 4; ++k) sorted[4 * i + k] = key[k];
}

// Merges neighbouring runs of `run` keys; a block has a bucket.
__global__ void merge_pass(const int* from, int* to, const int* starts, int run) {
  const int end = starts[blockIdx.x + 1];
  for (int first = starts[blockIdx.x] + 2 * run * threadIdx.x; first < end; first += 2 * run * blockDim.x) {
    const int middle = min(first + run, end);
    const int last = min(first + 2 * run, end);
    int left = first;
    int right = middle;
    for (int i = first; i < last; ++i) {
      if (right >= last || (left < middle && from[left] <= from[right])) {
        to[i] = from[left++];
      } else {
        to[i] = from[right++];
      }
    }
  }
}
