// A stencil whose blocks meet at a barrier of the whole grid between its steps: all of them must be live at once.
// native: HEDDLE_RESIDENT_BLOCKS=6
// capture: --resident-blocks 6
// replay: --machine fermi_fixed --divergence pdom
// replay-refused: --machine fermi_fixed --divergence pdom --set sms=2 --set core.max_blocks=2 | would hang on this machine: it holds 4 of the grid's 6 blocks at once
#include "check.h"

const int kBlocks = 6, kThreads = 64, kSteps = 5;

__device__ unsigned int arrived;
__device__ volatile unsigned int step_done;

__device__ void GridBarrier(unsigned int step) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&arrived, 1u) == gridDim.x * (step + 1) - 1) step_done = step + 1;
    while (step_done <= step) {
    }
    __threadfence();
  }
  __syncthreads();
}

__global__ void Stencil(float* a, float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned int step = 0; step < kSteps; ++step) {
    const volatile float* from = step % 2 == 0 ? a : b;
    float* to = step % 2 == 0 ? b : a;
    const float left = i > 0 ? from[i - 1] : 0, right = i + 1 < n ? from[i + 1] : 0;
    to[i] = 0.25f * left + 0.5f * from[i] + 0.25f * right;
    GridBarrier(step);
  }
}

int main() {
  const int n = kBlocks * kThreads;
  static float x[n], y[n], result[n];
  for (int i = 0; i < n; ++i) x[i] = static_cast<float>(i % 17);
  float *a, *b;
  CALL(cudaMalloc(&a, sizeof(x)));
  CALL(cudaMalloc(&b, sizeof(x)));
  CALL(cudaMemcpy(a, x, sizeof(x), cudaMemcpyHostToDevice));
  Stencil<<<kBlocks, kThreads>>>(a, b, n);
  CALL(cudaMemcpy(result, b, sizeof(x), cudaMemcpyDeviceToHost));
  for (int step = 0; step < kSteps; ++step) {
    float* from = step % 2 == 0 ? x : y;
    float* to = step % 2 == 0 ? y : x;
    for (int i = 0; i < n; ++i) {
      to[i] = 0.25f * (i > 0 ? from[i - 1] : 0) + 0.5f * from[i] + 0.25f * (i + 1 < n ? from[i + 1] : 0);
    }
  }
  for (int i = 0; i < n; ++i) EXPECT_NEAR(result[i], y[i], 1e-4);
  return Finish();
}
