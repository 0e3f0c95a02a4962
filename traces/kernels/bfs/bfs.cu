// Breadth-first search on a graph in compressed sparse rows: one launch per level, one thread per node.
//
// Stands for irregular graph kernels: few threads of a warp are in the frontier, each of those has its own number of
// neighbours, and neighbours lie anywhere in memory. Branch and memory divergence together.
//
// Several threads may write the same neighbour, but all write the same number, and a neighbour that was written during
// this launch is still "further than this level" for the others. So no thread's path depends on the order of threads.

constexpr int kUnreached = 0x7fffffff;

// Sets every distance to "unreached", except the source's.
__global__ void bfs_start(int* distance, int nodes, int source) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node < nodes) distance[node] = node == source ? 0 : kUnreached;
}

// Expands the nodes at distance `level`.
__global__ void bfs_level(const int* row_pointers, const int* neighbours, int* distance, int nodes, int level) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || distance[node] != level) return;
  const int end = row_pointers[node + 1];
  for (int edge = row_pointers[node]; edge < end; ++edge) {
    const int neighbour = neighbours[edge];
    if (distance[neighbour] > level) distance[neighbour] = level + 1;
  }
}
