// Radix sort of keys with their values, four bits per pass: blocks count digits, one block scans the counts, and blocks
// scatter their keys to where their digits begin.
//
// Stands for sorting as libraries do it: no comparison and hardly a branch, counters in shared memory that lanes share,
// ranks from ballots, and stores that fall apart into as many pieces as there are digits. Sorting is stable, so that
// results do not depend on the order of threads (M. Zagha, G. Blelloch, Radix sort for vector multiprocessors, 1991;
// D. Merrill, A. Grimshaw, Revisiting sorting for GPGPU stream architectures, 2010).

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kWarp = 32;
constexpr int kBits = 4;
constexpr int kDigits = 1 << kBits;
constexpr int kItems = 4;    // keys of a thread
constexpr int kBlock = 128;  // threads
constexpr int kWarps = kBlock / kWarp;

// The place of a thread's first key; its others follow 32 places apart, so that a warp's keys lie together.
__device__ inline int first_key() {
  return blockIdx.x * kBlock * kItems + threadIdx.x / kWarp * kWarp * kItems + threadIdx.x % kWarp;
}

__device__ inline int digit_of(unsigned key, int shift) { return static_cast<int>(key >> shift) & (kDigits - 1); }

// counts[digit][block] = how often the block's keys have it.
__global__ void count_digits(const unsigned* keys, int* counts, int count, int shift) {
  __shared__ int block_counts[kDigits];
  if (threadIdx.x < kDigits) block_counts[threadIdx.x] = 0;
  __syncthreads();
  const int first = first_key();
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const int i = first + j * kWarp;
    if (i < count) atomicAdd(&block_counts[digit_of(keys[i], shift)], 1);
  }
  __syncthreads();
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = block_counts[threadIdx.x];
}

// Replaces each count by the sum of those before it; one block, in which each thread has a run of neighbouring counts.
__global__ void scan_counts(int* counts, int count) {
  __shared__ int sums[kBlock];
  const int t = threadIdx.x;
  const int run = (count + kBlock - 1) / kBlock;
  const int begin = min(t * run, count);
  const int end = min(begin + run, count);
  int sum = 0;
  for (int i = begin; i < end; ++i) sum += counts[i];
  sums[t] = sum;
  __syncthreads();
  for (int distance = 1; distance < kBlock; distance *= 2) {
    const int other = t >= distance ? sums[t - distance] : 0;
    __syncthreads();
    sums[t] += other;
    __syncthreads();
  }
  int before = sums[t] - sum;
  for (int i = begin; i < end; ++i) {
    const int own = counts[i];
    counts[i] = before;
    before += own;
  }
}

// starts[digit][block] = where the block's keys with this digit go.
__global__ void scatter_keys(const unsigned* keys, const int* values, const int* starts, unsigned* sorted_keys,
                             int* sorted_values, int count, int shift) {
  __shared__ int warp_counts[kWarps][kDigits];
  const int lane = threadIdx.x % kWarp;
  const int warp = threadIdx.x / kWarp;
  for (int i = threadIdx.x; i < kWarps * kDigits; i += kBlock) warp_counts[i / kDigits][i % kDigits] = 0;
  __syncthreads();

  // The rank of each key among those of its warp that have the same digit.
  const int first = first_key();
  unsigned key[kItems];
  int rank[kItems];
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const bool valid = first + j * kWarp < count;
    key[j] = valid ? keys[first + j * kWarp] : 0;
    const int digit = digit_of(key[j], shift);
    unsigned alike = __ballot_sync(kAllLanes, valid);
#pragma unroll
    for (int bit = 0; bit < kBits; ++bit) {
      const bool set = (digit >> bit & 1) != 0;
      const unsigned with = __ballot_sync(kAllLanes, set);
      alike &= set ? with : ~with;
    }
    const int before = warp_counts[warp][digit];
    rank[j] = before + __popc(alike & ((1u << lane) - 1));
    __syncwarp();
    if (valid && alike >> lane == 1u) warp_counts[warp][digit] = rank[j] + 1;  // the last lane with this digit
    __syncwarp();
  }
  __syncthreads();

  // Where the warp's keys of each digit go.
  if (threadIdx.x < kDigits) {
    int start = starts[threadIdx.x * gridDim.x + blockIdx.x];
    for (int w = 0; w < kWarps; ++w) {
      const int own = warp_counts[w][threadIdx.x];
      warp_counts[w][threadIdx.x] = start;
      start += own;
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kItems; ++j) {
    const int i = first + j * kWarp;
    if (i >= count) continue;
    const int place = warp_counts[warp][digit_of(key[j], shift)] + rank[j];
    sorted_keys[place] = key[j];
    sorted_values[place] = values[i];
  }
}
