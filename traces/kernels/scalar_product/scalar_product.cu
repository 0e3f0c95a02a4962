// Scalar products of many pairs of vectors; a block takes every gridDim.x-th pair.
//
// Stands for reductions with many barriers: each pair is accumulated by all threads and then summed in a tree in which
// half of the threads drop out per level.

constexpr int kAccumulators = 256;

__global__ void scalar_product(const float* a, const float* b, float* products, int pairs, int length) {
  __shared__ float sums[kAccumulators];
  for (int pair = blockIdx.x; pair < pairs; pair += gridDim.x) {
    const int first = pair * length;
    for (int slot = threadIdx.x; slot < kAccumulators; slot += blockDim.x) {
      float sum = 0.0f;
      for (int i = slot; i < length; i += kAccumulators) sum += a[first + i] * b[first + i];
      sums[slot] = sum;
    }
    for (int stride = kAccumulators / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int slot = threadIdx.x; slot < stride; slot += blockDim.x) sums[slot] += sums[slot + stride];
    }
    if (threadIdx.x == 0) products[pair] = sums[0];
    __syncthreads();
  }
}
