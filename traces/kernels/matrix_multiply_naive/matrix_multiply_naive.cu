// Product of two square matrices, one thread per element, without shared memory.
//
// Stands for kernels without divergence that are bound by memory: each operand is read again and again.

__global__ void matrix_multiply_naive(const float* left, const float* right, float* result, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k) sum += left[y * n + k] * right[k * n + x];
  result[y * n + x] = sum;
}
