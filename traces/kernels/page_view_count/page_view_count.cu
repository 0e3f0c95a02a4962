// Counts how often each page occurs in a log, in a hash table with linear probing.
//
// Stands for map and reduce: compare-and-swap loops whose length depends on collisions, popular pages that all threads
// want. How far a thread probes depends on the order of the threads; the counts do not.

constexpr unsigned kEmpty = 0xffffffffu;

__global__ void clear(unsigned* keys, unsigned* counts, int slots) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= slots) return;
  keys[i] = kEmpty;
  counts[i] = 0;
}

// slots is a power of two.
__global__ void page_view_count(const unsigned* log, unsigned* keys, unsigned* counts, int entries, int slots) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < entries; i += stride) {
    const unsigned page = log[i];
    unsigned slot = page * 2654435761u >> 7 & (slots - 1);
    while (true) {
      const unsigned holder = atomicCAS(&keys[slot], kEmpty, page);
      if (holder == kEmpty || holder == page) break;
      slot = (slot + 1) & (slots - 1);
    }
    atomicAdd(&counts[slot], 1u);
  }
}
