// Vector addition, one element per thread.
//
// Stands for streaming kernels: perfectly coalesced loads and stores, next to no arithmetic, and one branch that only
// the last warp of the grid takes differently. Any policy should do the same here; what differs is the memory system.

__global__ void vector_add(const float* a, const float* b, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}
