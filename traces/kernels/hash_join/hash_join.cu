// Joins two tables by a key: the smaller one goes into a hash table, the larger one looks its rows up.
//
// Stands for databases: probing loops of unequal length, scattered loads that depend on one another, and keys that
// are found, or not, after different numbers of steps. Where a row of the smaller table lands depends on the order of
// the threads, the result does not: its keys are unique.

constexpr int kEmpty = -1;

__global__ void clear(int* keys, int slots) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < slots) keys[i] = kEmpty;
}

__device__ unsigned SlotOf(int key, int slots) { return (static_cast<unsigned>(key) * 2654435761u >> 9) & (slots - 1); }

__global__ void build(const int* small_keys, int* keys, int* rows, int count, int slots) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  unsigned slot = SlotOf(small_keys[i], slots);
  while (atomicCAS(&keys[slot], kEmpty, small_keys[i]) != kEmpty) slot = (slot + 1) & (slots - 1);
  rows[slot] = i;
}

// match[i] = row of the smaller table with the key of row i, or -1.
__global__ void probe(const int* large_keys, const int* keys, const int* rows, int* match, int count, int slots) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int key = large_keys[i];
  unsigned slot = SlotOf(key, slots);
  int found = -1;
  while (keys[slot] != kEmpty) {
    if (keys[slot] == key) {
      found = rows[slot];
      break;
    }
    slot = (slot + 1) & (slots - 1);
  }
  match[i] = found;
}
