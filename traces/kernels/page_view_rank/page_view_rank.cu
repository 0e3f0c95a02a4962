// Rank of every page by its views: how many pages have more, tile by tile through shared memory.
//
// Stands for all-pairs kernels with barriers: regular, two barriers per tile, selections instead of branches.

constexpr int kTile = 128;

// Pages with equal views rank by number. rank[i] = pages before page i.
__global__ void page_view_rank(const unsigned* views, int* rank, int pages) {
  __shared__ unsigned tile[kTile];
  const int own = blockIdx.x * kTile + threadIdx.x;
  const unsigned mine = own < pages ? views[own] : 0;
  int before = 0;
  for (int first = 0; first < pages; first += kTile) {
    if (first + threadIdx.x < pages) tile[threadIdx.x] = views[first + threadIdx.x];
    __syncthreads();
    const int most = min(kTile, pages - first);
    for (int i = 0; i < most; ++i) {
      before += tile[i] > mine || (tile[i] == mine && first + i < own);
    }
    __syncthreads();
  }
  if (own < pages) rank[own] = before;
}
