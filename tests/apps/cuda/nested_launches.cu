// Kernels that launch kernels: recursion, parameters of all sizes, templates, streams, tails, and what the host sees.
// nvcc: -rdc=true
#include "check.h"

struct Mixed {
  char letter;
  double number;
  short pair[3];
};

// A number per kernel that ran: order of what depends on one another.
__device__ int next_place;

namespace tree {
// Every level adds its depth for each of its threads.
__global__ void Grow(int* counts, int depth) {
  atomicAdd(&counts[depth], 1);
  if (depth < 3 && threadIdx.x == 0) Grow<<<2, 2>>>(counts, depth + 1);
}
}  // namespace tree

template <typename T, int kTimes>
__global__ void Scale(T* data, T factor) {
  for (int i = 0; i < kTimes; ++i) data[threadIdx.x] *= factor;
}

__global__ void Take(Mixed mixed, char c, long long big, Mixed* out, float* sum, float f) {
  out[threadIdx.x] = mixed;
  sum[threadIdx.x] = c + static_cast<float>(big) + f;
}

__global__ void Note(int* order, int who) { order[who] = atomicAdd(&next_place, 1); }

__global__ void Chain(int* order) {
  // The tail comes last, the others of this thread one after the other.
  Note<<<1, 1, 0, cudaStreamTailLaunch>>>(order, 0);
  Note<<<1, 1>>>(order, 1);
  cudaStream_t stream;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;
  Note<<<1, 1, 0, stream>>>(order, 2);
  cudaStreamDestroy(stream);
  Note<<<dim3(1), dim3(1, 1, 1)>>>(order, 3);
  if (cudaGetLastError() != cudaSuccess) order[0] = -1;
}

__global__ void Parent(double* values, Mixed mixed, Mixed* out, float* sum) {
  if (threadIdx.x == 1) {
    Scale<double, 2><<<1, 4>>>(values, 3.0);
    const int threads = 2;
    Take<<<(threads + 1) / 2, threads>>>(mixed, 'A', 1LL << 20, out, sum, 0.5f);
  }
}

// A fill, a launch and a copy, in the order of the stream.
__global__ void Move(int* data, int n) {
  if (threadIdx.x != 0) return;
  int* more = nullptr;
  if (cudaMalloc(&more, 16) != cudaSuccess) return;
  cudaMemsetAsync(data, 1, n * sizeof(int));
  Scale<int, 1><<<1, 2>>>(data, 2);
  if (cudaMemcpyAsync(data + n, data, n * sizeof(int), cudaMemcpyDeviceToDevice) != cudaSuccess) data[2 * n] = 1;
  cudaFree(more);
}

// Where the host waits it sees what children have done.
__device__ void Helper(int* data) {
  if (threadIdx.x == 0 && blockIdx.x == 1) tree::Grow<<<1, 1>>>(data, 3);
}
__global__ void ByHelper(int* data) { Helper(data); }

#if __cplusplus >= 201703L
// Kernels of one name: the arguments choose, by their types or their number.
__global__ void Put(int* out, int) { out[0] = 1; }
__global__ void Put(int* out, double) { out[1] = 2; }
__global__ void Put(int* out, unsigned int a, unsigned int b) { out[2] = a + b; }
template <typename T>
__global__ void PutAs(T* out, T value) {
  *out = value;
}
__global__ void Choose(int* out) {
  Put<<<1, 1>>>(out, 7);
  Put<<<1, 1>>>(out, 7.0);
  Put<<<1, 1>>>(out, threadIdx.x == 0, 'a' - 'a' + 2);  // converted, as in any call
  PutAs<<<1, 1>>>(out + 3, 4);
  PutAs<<<1, 1>>>(reinterpret_cast<float*>(out + 4), 5.0f);
}
#endif

int main() {
  int *counts, *order;
  double* values;
  Mixed* out;
  float* sum;
  CALL(cudaMallocManaged(&counts, 8 * sizeof(int)));
  CALL(cudaMallocManaged(&order, 8 * sizeof(int)));
  CALL(cudaMallocManaged(&values, 4 * sizeof(double)));
  CALL(cudaMallocManaged(&out, 2 * sizeof(Mixed)));
  CALL(cudaMallocManaged(&sum, 2 * sizeof(float)));
  for (int i = 0; i < 8; ++i) counts[i] = order[i] = 0;
  for (int i = 0; i < 4; ++i) values[i] = i + 1;

  tree::Grow<<<1, 2>>>(counts, 0);
  CALL(cudaDeviceSynchronize());
  // One launch, then one per block: 2 threads, 4, 8, 16.
  EXPECT(counts[0] == 2 && counts[1] == 4 && counts[2] == 8 && counts[3] == 16);

  const Mixed mixed = {'x', 2.25, {1, 2, 3}};
  Parent<<<1, 32>>>(values, mixed, out, sum);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i) EXPECT(values[i] == 9 * (i + 1));
  for (int i = 0; i < 2; ++i) {
    EXPECT(out[i].letter == 'x' && out[i].number == 2.25 && out[i].pair[2] == 3);
    EXPECT(sum[i] == 65 + 1048576 + 0.5f);
  }

  Chain<<<1, 1>>>(order);
  CALL(cudaDeviceSynchronize());
  EXPECT(order[0] == 3 && order[1] < order[3]);

  int* moved;
  const int n = 300;
  CALL(cudaMallocManaged(&moved, (2 * n + 1) * sizeof(int)));
  moved[2 * n] = 0;
  Move<<<1, 32>>>(moved, n);
  CALL(cudaDeviceSynchronize());
  EXPECT(moved[0] == 0x02020202 && moved[2] == 0x01010101 && moved[n + 1] == 0x02020202);
  EXPECT(moved[2 * n - 1] == 0x01010101 && moved[2 * n] == 0);

  cudaStream_t stream;
  CALL(cudaStreamCreate(&stream));
  ByHelper<<<2, 32, 0, stream>>>(counts + 4);
  CALL(cudaStreamSynchronize(stream));
  EXPECT(counts[4 + 3] == 1);

#if __cplusplus >= 201703L
  int* chosen;
  CALL(cudaMallocManaged(&chosen, 5 * sizeof(int)));
  Choose<<<1, 1>>>(chosen);
  CALL(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i) EXPECT(chosen[i] == i + 1);
  EXPECT(reinterpret_cast<float*>(chosen)[4] == 5);
#endif
  return Finish();
}
