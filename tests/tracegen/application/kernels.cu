// What the traced programs of these tests run on the device.
__constant__ float offset = 1.0f;
__device__ int counter;

__global__ void Scale(float* data, float factor, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * factor + offset;
}

__global__ void Count(int step) { atomicAdd(&counter, step); }

__global__ void Reverse(int* data) {
  extern __shared__ int part[];
  part[threadIdx.x] = data[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * blockDim.x + threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

// Never ends, and is not a wait: every round changes memory.
__global__ void Spin(volatile int* stop) {
  while (*stop >= 0) *stop = (*stop + 1) & 0xffff;
}

__global__ void Write(int* data) { data[blockIdx.x * blockDim.x + threadIdx.x] = 7; }

__global__ void __launch_bounds__(64) Bounded(int* data) { data[threadIdx.x] = 1; }

__global__ void ShuffleSum(int* data) {
  int value = data[threadIdx.x];
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
  data[threadIdx.x] = value;
}

// What a barrier of the whole grid asks for first (cooperative_groups.h).
extern "C" __device__ void __heddle_resident_grid();
__global__ void MeetGrid() { __heddle_resident_grid(); }
