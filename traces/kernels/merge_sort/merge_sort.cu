// Sorts segments of 2 * blockDim.x numbers by merging in shared memory: every number finds its place in the other half
// by binary search.
//
// Stands for searches between barriers: the loop has the same length for all lanes, its branches depend on data.

constexpr int kMost = 1024;

// Numbers below `value` (or not above it, if `inclusive`) in sorted list[0 .. length).
__device__ int Rank(unsigned value, const unsigned* list, int length, bool inclusive) {
  int position = 0;
  for (int step = length; step > 0; step /= 2) {
    const int next = position + step;
    if (next <= length && (list[next - 1] < value || (inclusive && list[next - 1] == value))) position = next;
  }
  return position;
}

__global__ void merge_sort(unsigned* values) {
  __shared__ unsigned segment[kMost];
  const int length = 2 * blockDim.x;
  unsigned* const own = values + blockIdx.x * length;
  segment[threadIdx.x] = own[threadIdx.x];
  segment[threadIdx.x + blockDim.x] = own[threadIdx.x + blockDim.x];
  for (int run = 1; run < length; run *= 2) {
    __syncthreads();
    const int lane = threadIdx.x & (run - 1);
    unsigned* const pair = segment + 2 * (threadIdx.x - lane);
    const unsigned left = pair[lane];
    const unsigned right = pair[lane + run];
    const int left_place = lane + Rank(left, pair + run, run, false);
    const int right_place = lane + Rank(right, pair, run, true);
    __syncthreads();
    pair[left_place] = left;
    pair[right_place] = right;
  }
  __syncthreads();
  own[threadIdx.x] = segment[threadIdx.x];
  own[threadIdx.x + blockDim.x] = segment[threadIdx.x + blockDim.x];
}
