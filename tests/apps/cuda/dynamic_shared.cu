// Dynamic shared memory: several arrays in one, beside static shared memory, and more than 48 KiB.
#include "check.h"

extern __shared__ unsigned char storage[];

__global__ void Mixed(const int* in, int* out, int n) {
  int* numbers = reinterpret_cast<int*>(storage);
  short* halves = reinterpret_cast<short*>(numbers + n);
  __shared__ int bias;
  const int i = threadIdx.x;
  if (i == 0) bias = 1000;
  numbers[i] = in[i];
  halves[i] = static_cast<short>(-in[i]);
  __syncthreads();
  out[i] = numbers[n - 1 - i] + halves[(i + 1) % n] + bias;
}

template <typename T>
__global__ void Large(T* out, int n) {
  T* all = reinterpret_cast<T*>(storage);
  for (int i = threadIdx.x; i < n; i += blockDim.x) all[i] = static_cast<T>(i) / 2;
  __syncthreads();
  T sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += all[n - 1 - i];
  out[threadIdx.x] = sum;
}

int main() {
  const int n = 96;
  int host[n], back[n], *in, *out;
  for (int i = 0; i < n; ++i) host[i] = i * 5;
  CALL(cudaMalloc(&in, sizeof(host)));
  CALL(cudaMalloc(&out, sizeof(host)));
  CALL(cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice));
  Mixed<<<1, n, n * (sizeof(int) + sizeof(short))>>>(in, out, n);
  CALL(cudaMemcpy(back, out, sizeof(back), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) EXPECT(back[i] == host[n - 1 - i] - host[(i + 1) % n] + 1000);
  const int doubles = 9000;
  CALL(cudaFuncSetAttribute(Large<double>, cudaFuncAttributeMaxDynamicSharedMemorySize, 72000));
  double *sums, result[64], total = 0;
  CALL(cudaMalloc(&sums, sizeof(result)));
  Large<<<1, 64, doubles * sizeof(double)>>>(sums, doubles);
  CALL(cudaMemcpy(result, sums, sizeof(result), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) total += result[i];
  EXPECT(total == doubles * (doubles - 1.0) / 4);
  return Finish();
}
