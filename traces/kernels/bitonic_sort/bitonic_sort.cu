// Bitonic sort of unsigned numbers, one thread per element; the count is a power of two.
//
// Stands for data-parallel kernels full of short branches: in every step half of the threads have nothing to do (in
// patterns that change with the distance), and the others branch on their data. Steps within a block go through shared
// memory with a barrier each; longer distances are launches of their own.

constexpr int kTile = 256;  // elements and threads of a block

// Puts a pair in order. `ascending` is the direction of the sequence that the pair belongs to.
__device__ inline void compare_exchange(unsigned* values, unsigned i, unsigned partner, bool ascending) {
  const unsigned a = values[i];
  const unsigned b = values[partner];
  if ((a > b) == ascending && a != b) {
    values[i] = b;
    values[partner] = a;
  }
}

// Merges within a tile: the steps from `distance` down to 1 of sequences of `length` elements. `tile` is in shared
// memory, `first` the index of its first element.
__device__ inline void merge_tile(unsigned* tile, unsigned first, unsigned length, unsigned distance) {
  const unsigned i = threadIdx.x;
  for (; distance > 0; distance /= 2) {
    __syncthreads();
    const unsigned partner = i ^ distance;
    if (partner > i) compare_exchange(tile, i, partner, ((first + i) & length) == 0);
  }
}

// Sorts every tile, in alternating directions.
__global__ void bitonic_sort_tiles(unsigned* values) {
  __shared__ unsigned tile[kTile];
  const unsigned first = blockIdx.x * kTile;
  tile[threadIdx.x] = values[first + threadIdx.x];
  for (unsigned length = 2; length <= kTile; length *= 2) merge_tile(tile, first, length, length / 2);
  __syncthreads();
  values[first + threadIdx.x] = tile[threadIdx.x];
}

// One step at a distance of a tile or more.
__global__ void bitonic_step(unsigned* values, unsigned length, unsigned distance) {
  const unsigned i = blockIdx.x * kTile + threadIdx.x;
  const unsigned partner = i ^ distance;
  if (partner > i) compare_exchange(values, i, partner, (i & length) == 0);
}

// The remaining steps of a merge of sequences of `length` elements, all within a tile.
__global__ void bitonic_merge_tiles(unsigned* values, unsigned length) {
  __shared__ unsigned tile[kTile];
  const unsigned first = blockIdx.x * kTile;
  tile[threadIdx.x] = values[first + threadIdx.x];
  merge_tile(tile, first, length, kTile / 2);
  __syncthreads();
  values[first + threadIdx.x] = tile[threadIdx.x];
}
