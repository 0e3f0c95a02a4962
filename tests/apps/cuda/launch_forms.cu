// The ways to launch: templates, cudaLaunchKernel, the calls of CUDA 3, structures by value, lambdas.
// nvcc: -std=c++14 --extended-lambda
#include "check.h"

struct Settings {
  char small;
  double factor;
  short offsets[3];
  float3 vector;
};

template <typename T, int kStep>
__global__ void Fill(T* out, T start) {
  out[threadIdx.x] = start + static_cast<T>(threadIdx.x * kStep);
}
__global__ void WithSettings(Settings s, float* out, char last) {
  out[threadIdx.x] = static_cast<float>(s.small + s.factor * s.offsets[threadIdx.x % 3] + s.vector.z + last);
}
template <typename Function>
__global__ void ForEach(int n, Function function) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) function(i);
}
namespace {
__global__ void Hidden(int* out) { *out = 4711; }
}  // namespace
static __global__ void Static(int* out) { *out += 1; }

int main() {
  const int n = 16;
  float *out, host[n];
  CALL(cudaMalloc(&out, sizeof(host)));
  Fill<float, 3><<<1, n>>>(out, 0.5f);
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == 0.5f + 3 * i);

  Settings settings = {7, 0.25, {4, 8, -12}, {1, 2, 3}};
  char last = 1;
  void* arguments[] = {&settings, &out, &last};
  CALL(cudaLaunchKernel(WithSettings, dim3(1), dim3(n), arguments));
  CALL(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == 7 + 0.25f * settings.offsets[i % 3] + 3 + 1);

  CALL(cudaConfigureCall(dim3(1), dim3(n), 0, 0));
  int *ints, number = 0;
  CALL(cudaMalloc(&ints, n * sizeof(int)));
  CALL(cudaSetupArgument(&ints, sizeof(ints), 0));
  CALL(cudaSetupArgument(100, 8));
  CALL(cudaLaunch(Fill<int, 1>));
  int back[n];
  CALL(cudaMemcpy(back, ints, sizeof(back), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(back[i] == 100 + i);

  const int scale = 9;
  static_assert(!__nv_is_extended_device_lambda_closure_type(dim3), "asked for by libraries");
  ForEach<<<2, 8>>>(n, [=] __device__(int i) { ints[i] = i * scale; });
  CALL(cudaMemcpy(back, ints, sizeof(back), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(back[i] == i * scale);

  // Since CUDA 11.8; arguments are converted.
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {1, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(n);
  config.attrs = attributes;
  config.numAttrs = 2;
  CALL(cudaLaunchKernelEx(&config, Fill<int, 2>, ints, 'd'));
  CALL(cudaMemcpy(back, ints, sizeof(back), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(back[i] == 100 + 2 * i);
  attributes[1].val.clusterDim.x = 2;
  EXPECT(cudaLaunchKernelEx(&config, Fill<int, 2>, ints, 1) == cudaErrorNotSupported);

  Hidden<<<1, 1>>>(ints);
  Static<<<1, 1>>>(ints);
  CALL(cudaMemcpy(&number, ints, sizeof(number), cudaMemcpyDeviceToHost));
  EXPECT(number == 4712);
  return Finish();
}
