// One file of relocatable device code whose variables are its own, and which the host names: of every kind.
// nvcc: -rdc=true
#include "check.h"

struct Pair {
  float a, b;
};
static __constant__ Pair plain[16];
static __constant__ Pair partly[16] = {{1, 2}};  // its initial value has a type of its own
static __device__ float result[16];
static __device__ int counts[3] = {7};
static __managed__ int managed = 3;
static texture<float, 1, cudaReadModeElementType> texels;
namespace {
__constant__ int hidden_factor = 4;
__device__ int hidden[4];
__global__ void HiddenKernel(int by) { hidden[threadIdx.x] = by * hidden_factor + managed; }
}  // namespace
template <typename T>
static __global__ void Fill(T* out, T value) {
  static __shared__ T kept[16];
  kept[threadIdx.x] = value;
  __syncthreads();
  out[threadIdx.x] = kept[15 - threadIdx.x] + counts[0];
}
static __device__ float Sum(int i) { return plain[i].a + partly[i].b; }
static __device__ float (*chosen)(int) = Sum;
static __global__ void Use() {
  const int i = threadIdx.x;
  result[i] = chosen(i) + tex1Dfetch(texels, i);
}

int main() {
  Pair pairs[16];
  float values[16], back[16];
  for (int i = 0; i < 16; ++i) {
    pairs[i] = {i * 1.0f, i * 2.0f};
    values[i] = i * 0.5f;
  }
  CALL(cudaMemcpyToSymbol(plain, pairs, sizeof(pairs)));
  Pair first;
  CALL(cudaMemcpyFromSymbol(&first, partly, sizeof(first)));
  EXPECT(first.a == 1 && first.b == 2);
  CALL(cudaMemcpyToSymbol(partly, pairs, sizeof(pairs)));
  float* line;
  CALL(cudaMalloc(&line, sizeof(values)));
  CALL(cudaMemcpy(line, values, sizeof(values), cudaMemcpyHostToDevice));
  CALL(cudaBindTexture(NULL, texels, line, sizeof(values)));
  Use<<<1, 16>>>();
  CALL(cudaDeviceSynchronize());
  CALL(cudaMemcpyFromSymbol(back, result, sizeof(back)));
  for (int i = 0; i < 16; ++i) EXPECT(back[i] == 3 * i + i * 0.5f);

  const int factor = 5;
  int four[4];
  CALL(cudaMemcpyToSymbol(hidden_factor, &factor, sizeof(factor)));
  managed = 9;
  HiddenKernel<<<1, 4>>>(2);
  CALL(cudaDeviceSynchronize());
  CALL(cudaMemcpyFromSymbol(four, hidden, sizeof(four)));
  EXPECT(four[3] == 2 * 5 + 9);

  int* filled;
  CALL(cudaMallocManaged(&filled, 16 * sizeof(int)));
  Fill<<<1, 16>>>(filled, 30);
  CALL(cudaDeviceSynchronize());
  EXPECT(filled[2] == 37);
  void* address;
  size_t bytes;
  CALL(cudaGetSymbolAddress(&address, counts));
  CALL(cudaGetSymbolSize(&bytes, counts));
  EXPECT(bytes == sizeof(counts));
  CALL(cudaMemset(address, 0, bytes));
  Fill<<<1, 16>>>(filled, 30);
  CALL(cudaDeviceSynchronize());
  EXPECT(filled[2] == 30);
  return Finish();
}
