// Host part of the CMake project.
#include <vector>

#include "../check.h"

void LaunchScale(float* data, int n);
cudaError_t SetWeights(const float* values);

int main() {
  const int n = 150;
  std::vector<float> host(n, 3.0f);
  const float weights[4] = {1, 2, 4, 8};
  CALL(SetWeights(weights));
  float* device;
  CALL(cudaMalloc(&device, n * sizeof(float)));
  CALL(cudaMemcpy(device, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  LaunchScale(device, n);
  CALL(cudaMemcpy(host.data(), device, n * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(host[i] == 3.0f * (1 << i % 4));
  return Finish();
}
