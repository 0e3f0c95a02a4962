// Queries of a B+ tree: single keys and ranges. A block of 16 threads walks down for one query, a thread per key of a
// node.
//
// Stands for index look-ups: small blocks, dependent loads, one lane that finds what it looks for, barriers per level.
//
// Keys ascend; level 0 are all keys, level l has every 16^l-th of them, level after level in `nodes` from `levels[l]`
// on, filled up with the largest number.

constexpr int kFan = 16;

__device__ int Descend(const int* nodes, const int* levels, int height, int key, int* shared) {
  if (threadIdx.x == 0) *shared = 0;
  __syncthreads();
  for (int level = height - 1; level >= 0; --level) {
    const int first = kFan * *shared;
    const int* const node = nodes + levels[level] + first;
    const int t = threadIdx.x;
    const bool last = t == kFan - 1 || node[t + 1] > key;
    __syncthreads();
    // The last key of the node that is not above the one in question; the first one if all are.
    if ((node[t] <= key || t == 0) && last) *shared = first + t;
    __syncthreads();
  }
  return *shared;
}

// found[q] = place of the key, or -1.
__global__ void find(const int* nodes, const int* levels, const int* queries, int* found, int height) {
  __shared__ int place;
  const int key = queries[blockIdx.x];
  const int at = Descend(nodes, levels, height, key, &place);
  if (threadIdx.x == 0) found[blockIdx.x] = nodes[at] == key ? at : -1;
}

// lengths[q] = keys k with queries[q] <= k < queries[q] + span.
__global__ void range(const int* nodes, const int* levels, const int* queries, int* lengths, int height, int span) {
  __shared__ int place;
  const int low = Descend(nodes, levels, height, queries[blockIdx.x] - 1, &place);
  __syncthreads();
  const int high = Descend(nodes, levels, height, queries[blockIdx.x] + span - 1, &place);
  if (threadIdx.x == 0) {
    const int before_low = nodes[low] <= queries[blockIdx.x] - 1 ? low + 1 : low;
    const int before_high = nodes[high] <= queries[blockIdx.x] + span - 1 ? high + 1 : high;
    lengths[blockIdx.x] = before_high - before_low;
  }
}

// Makes the upper levels from the keys. One thread per place of a level.
__global__ void build(int* nodes, const int* levels, int level, int places, int keys, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= places) return;
  const int from = i * step;
  nodes[levels[level] + i] = from < keys ? nodes[from] : 0x7fffffff;
}
