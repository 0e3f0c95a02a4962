// Gain of opening a new centre: every point compares its distance to the candidate with what it pays now.
//
// Stands for clustering by local search: long coalesced loops over dimensions, then a branch that few threads take and
// that scatters to the gain of the point's centre. Sums are integers, so that their order does not matter.

__global__ void stream_cluster(const int* points, const int* centre, const int* cost, int* switches, int* gain,
                               int* saved, int count, int dimensions, int candidate) {
  __shared__ int candidate_point[64];
  if (threadIdx.x < dimensions) candidate_point[threadIdx.x] = points[threadIdx.x * count + candidate];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int distance = 0;
  for (int d = 0; d < dimensions; ++d) {
    const int delta = points[d * count + i] - candidate_point[d];
    distance += delta * delta;
  }
  if (distance < cost[i]) {
    switches[i] = 1;
    atomicAdd(saved, cost[i] - distance);
  } else {
    switches[i] = 0;
    atomicAdd(&gain[centre[i]], distance - cost[i]);
  }
}
