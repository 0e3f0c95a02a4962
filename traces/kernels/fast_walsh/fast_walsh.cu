// Fast Walsh transform: wide strides in global memory, then the rest of each segment in shared memory.
//
// Stands for butterflies: every thread works in every step, addresses go by powers of two.

// One butterfly of distance `stride` per thread.
__global__ void walsh_global(int* data, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int low = i & (stride - 1);
  int* const first = data + 2 * (i - low) + low;
  const int a = first[0];
  const int b = first[stride];
  first[0] = a + b;
  first[stride] = a - b;
}

// All butterflies within segments of 2 * blockDim.x elements.
__global__ void walsh_shared(int* data) {
  extern __shared__ int segment[];
  const int length = 2 * blockDim.x;
  int* const own = data + blockIdx.x * length;
  segment[threadIdx.x] = own[threadIdx.x];
  segment[threadIdx.x + blockDim.x] = own[threadIdx.x + blockDim.x];
  for (int stride = length / 2; stride > 0; stride /= 2) {
    __syncthreads();
    const int low = threadIdx.x & (stride - 1);
    int* const first = segment + 2 * (threadIdx.x - low) + low;
    const int a = first[0];
    const int b = first[stride];
    first[0] = a + b;
    first[stride] = a - b;
  }
  __syncthreads();
  own[threadIdx.x] = segment[threadIdx.x];
  own[threadIdx.x + blockDim.x] = segment[threadIdx.x + blockDim.x];
}
