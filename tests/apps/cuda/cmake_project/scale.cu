// The kernel of the CMake project.
__device__ float Weight(int i);

__global__ void Scale(float* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] *= Weight(i);
}

void LaunchScale(float* data, int n) { Scale<<<(n + 63) / 64, 64>>>(data, n); }
