// Divides points in space into octants until none holds more than a few; a block owns a set of points.
//
// Stands for partitioning with many barriers: counting with atomics in shared memory, a stack of work that one thread
// keeps, and phases in which most threads have no point. The order of points in an octant depends on the order of the
// threads; which octants there are does not.

constexpr int kMostPoints = 512;
constexpr int kFew = 8;
constexpr int kMostDepth = 8;  // coordinates have 8 bits
constexpr int kStack = 7 * kMostDepth + 8;

struct Octant {
  short first, count, depth;
};

// leaves[block] and levels[block * kMostDepth + depth] = octants that were divided no further, in all and by depth.
__global__ void octree(const unsigned* points, int* leaves, int* levels, int points_per_block) {
  __shared__ unsigned point[kMostPoints];
  __shared__ unsigned moved[kMostPoints];
  __shared__ int counts[8];
  __shared__ int next[8];
  __shared__ Octant stack[kStack];
  __shared__ int height;
  __shared__ int found;
  __shared__ int found_at[kMostDepth + 1];
  const int t = threadIdx.x;
  for (int i = t; i < points_per_block; i += blockDim.x) point[i] = points[blockIdx.x * points_per_block + i];
  if (t <= kMostDepth) found_at[t] = 0;
  if (t == 0) {
    stack[0] = {0, static_cast<short>(points_per_block), 0};
    height = 1;
    found = 0;
  }
  __syncthreads();
  while (height > 0) {
    const Octant octant = stack[height - 1];
    if (t < 8) counts[t] = 0;
    __syncthreads();
    if (t == 0) --height;
    if (octant.count <= kFew || octant.depth == kMostDepth) {
      if (t == 0) {
        ++found;
        ++found_at[octant.depth];
      }
      __syncthreads();
      continue;
    }
    const int bit = kMostDepth - 1 - octant.depth;
    for (int i = t; i < octant.count; i += blockDim.x) {
      const unsigned p = point[octant.first + i];
      const unsigned child = (p >> bit & 1u) | (p >> (8 + bit) & 1u) << 1 | (p >> (16 + bit) & 1u) << 2;
      atomicAdd(&counts[child], 1);
    }
    __syncthreads();
    if (t == 0) {
      int first = 0;
      for (int child = 0; child < 8; ++child) {
        next[child] = first;
        if (counts[child] != 0) {
          stack[height++] = {static_cast<short>(octant.first + first), static_cast<short>(counts[child]),
                             static_cast<short>(octant.depth + 1)};
        }
        first += counts[child];
      }
    }
    __syncthreads();
    for (int i = t; i < octant.count; i += blockDim.x) {
      const unsigned p = point[octant.first + i];
      const unsigned child = (p >> bit & 1u) | (p >> (8 + bit) & 1u) << 1 | (p >> (16 + bit) & 1u) << 2;
      moved[atomicAdd(&next[child], 1)] = p;
    }
    __syncthreads();
    for (int i = t; i < octant.count; i += blockDim.x) point[octant.first + i] = moved[i];
    __syncthreads();
  }
  if (t == 0) leaves[blockIdx.x] = found;
  if (t <= kMostDepth) levels[blockIdx.x * (kMostDepth + 1) + t] = found_at[t];
}
