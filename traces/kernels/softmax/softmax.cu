// Softmax of the rows of a matrix, in one pass over its elements for the maximum and the sum together: a warp per row
// for short rows, a block per row for long ones.
//
// Stands for the normalisations between the products of a network: little arithmetic per byte, exponentials, reductions
// by shuffles, and lanes beyond the end of a row that have nothing to do. A thread keeps the greatest element so far
// and the sum of exponentials relative to it; two such pairs become one when the smaller maximum's sum is scaled down
// (M. Milakov, N. Gimelshein, Online normalizer calculation for softmax, 2018).

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kWarp = 32;
constexpr float kLowest = -3.402823466e38f;

struct Running {
  float greatest;
  float sum;  // of exp(element - greatest)
};

__device__ inline Running combine(Running a, Running b) {
  const float greatest = fmaxf(a.greatest, b.greatest);
  return {greatest, a.sum * __expf(a.greatest - greatest) + b.sum * __expf(b.greatest - greatest)};
}

// Over a warp, in all lanes.
__device__ inline Running combine_warp(Running running) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const Running other = {__shfl_xor_sync(kAllLanes, running.greatest, distance),
                           __shfl_xor_sync(kAllLanes, running.sum, distance)};
    running = combine(running, other);
  }
  return running;
}

// Every stride-th element of a row from `first` on.
__device__ inline Running scan_row(const float* row, int first, int stride, int columns) {
  Running running = {kLowest, 0.0f};
  for (int i = first; i < columns; i += stride) {
    const float element = row[i];
    if (element > running.greatest) {
      running.sum *= __expf(running.greatest - element);
      running.greatest = element;
    }
    running.sum += __expf(element - running.greatest);
  }
  return running;
}

__device__ inline void write_row(const float* row, float* out, int first, int stride, int columns, Running all) {
  const float factor = 1.0f / all.sum;
  for (int i = first; i < columns; i += stride) out[i] = __expf(row[i] - all.greatest) * factor;
}

// A warp per row; blockDim.x is a multiple of 32.
__global__ void softmax_warp(const float* input, float* output, int rows, int columns) {
  const int lane = threadIdx.x % kWarp;
  const int row = blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  if (row >= rows) return;
  const float* from = input + static_cast<size_t>(row) * columns;
  const Running all = combine_warp(scan_row(from, lane, kWarp, columns));
  write_row(from, output + static_cast<size_t>(row) * columns, lane, kWarp, columns, all);
}

// A block per row; blockDim.x is a multiple of 32.
__global__ void softmax_block(const float* input, float* output, int columns) {
  __shared__ Running warps[kWarp];
  const int lane = threadIdx.x % kWarp;
  const float* from = input + static_cast<size_t>(blockIdx.x) * columns;
  Running all = combine_warp(scan_row(from, threadIdx.x, blockDim.x, columns));
  if (lane == 0) warps[threadIdx.x / kWarp] = all;
  __syncthreads();
  all = combine_warp(lane < blockDim.x / kWarp ? warps[lane] : Running{kLowest, 0.0f});
  write_row(from, output + static_cast<size_t>(blockIdx.x) * columns, threadIdx.x, blockDim.x, columns, all);
}
