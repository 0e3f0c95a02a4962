// What first.cu and second.cu have in common, text and names alike.
#include <cuda_runtime.h>

static __constant__ int factor[2] = {START};
static __device__ int sums[32];
static __device__ int Times(int value) { return value * factor[0]; }
static __global__ void Add(int to) {
  static __shared__ int kept[32];
  kept[threadIdx.x] = Times(threadIdx.x);
  __syncthreads();
  sums[threadIdx.x] += kept[31 - threadIdx.x] + to;
}
namespace {
struct Named {
  __device__ static int Offset() { return START; }
};
template <typename T>
__global__ void Tagged(int* out) {
  *out = T::Offset();
}
}  // namespace

static int Compute(int change) {
  int all[32], tag = 0, *out = nullptr, status = 0;
  if (change != 0) status |= cudaMemcpyToSymbol(factor, &change, sizeof(change));
  Add<<<1, 32>>>(100);
  status |= cudaMemcpyFromSymbol(all, sums, sizeof(all));
  status |= cudaMalloc(&out, sizeof(*out));
  Tagged<Named><<<1, 1>>>(out);
  status |= cudaMemcpy(&tag, out, sizeof(tag), cudaMemcpyDeviceToHost);
  status |= cudaFree(out);
  return status != 0 ? -1 : all[0] * 10 + tag;
}
