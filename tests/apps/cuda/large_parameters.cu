// Kernels with the most parameters that compute capability 7.0 allows, launched in every way.
// module: large_parameters_module.cu
#include <cuda.h>

#include "check.h"

struct Large {
  int words[8188];
};
static_assert(sizeof(Large) + sizeof(int*) == 32760, "");

__global__ void Pick(const Large large, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = large.words[(i * 4099) % 8188];
}

int main() {
  static Large large;
  for (int i = 0; i < 8188; ++i) large.words[i] = i * 3;
  const int n = 128;
  int* out;
  CALL(cudaMallocManaged(&out, n * sizeof(int)));
  const auto check = [&] {
    CALL(cudaDeviceSynchronize());
    for (int i = 0; i < n; ++i) EXPECT(out[i] == (i * 4099) % 8188 * 3);
    CALL(cudaMemset(out, 0, n * sizeof(int)));
  };
  Pick<<<2, 64>>>(large, out);
  check();
  void* arguments[] = {&large, &out};
  CALL(cudaLaunchKernel(Pick, dim3(2), dim3(64), arguments, 0, NULL));
  check();
  CUmodule module;
  CUfunction pick;
  EXPECT(cuModuleLoad(&module, "large_parameters_module.cubin") == CUDA_SUCCESS);
  EXPECT(cuModuleGetFunction(&pick, module, "Pick") == CUDA_SUCCESS);
  EXPECT(cuLaunchKernel(pick, 2, 1, 1, 64, 1, 1, 0, NULL, arguments, NULL) == CUDA_SUCCESS);
  check();
  return Finish();
}
