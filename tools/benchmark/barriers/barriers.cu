// Kernels that do little else than wait for one another.
__global__ void bare(int* out, int rounds) {
  for (int i = 0; i < rounds; ++i) __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = rounds;
}

// A ring of threads that hand values on: two barriers per step.
__global__ void exchange(int* out, int rounds) {
  __shared__ int place[256];
  int value = threadIdx.x;
  for (int i = 0; i < rounds / 2; ++i) {
    place[threadIdx.x] = value;
    __syncthreads();
    value += place[(threadIdx.x + 1) & 255];
    __syncthreads();
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
