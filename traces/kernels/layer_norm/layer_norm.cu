// Normalisation of the rows of a matrix to mean 0 and deviation 1, with a weight and a bias per column; a warp per row.
//
// Stands for kernels that are bound by memory: loads and stores of four elements at once, all coalesced, two
// reductions over a warp by shuffles, and hardly any divergence. The deviations are summed once the mean is known.

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kWarp = 32;
constexpr float kEpsilon = 1e-5f;  // added to the variance

// The sum over a warp, in all lanes.
__device__ inline float warp_sum(float value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) value += __shfl_xor_sync(kAllLanes, value, distance);
  return value;
}

// Rows of `quads` times four elements; blockDim.x is a multiple of 32.
__global__ void layer_norm(const float4* input, const float4* weight, const float4* bias, float4* output, float* means,
                           float* scales, int rows, int quads) {
  const int lane = threadIdx.x % kWarp;
  const int row = blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  if (row >= rows) return;
  const float4* from = input + static_cast<size_t>(row) * quads;
  float4* to = output + static_cast<size_t>(row) * quads;

  float sum = 0.0f;
  for (int i = lane; i < quads; i += kWarp) {
    const float4 x = from[i];
    sum += (x.x + x.y) + (x.z + x.w);
  }
  const float mean = warp_sum(sum) / static_cast<float>(4 * quads);

  float squares = 0.0f;
  for (int i = lane; i < quads; i += kWarp) {
    const float4 x = from[i];
    const float4 d = {x.x - mean, x.y - mean, x.z - mean, x.w - mean};
    squares += (d.x * d.x + d.y * d.y) + (d.z * d.z + d.w * d.w);
  }
  const float scale = rsqrtf(warp_sum(squares) / static_cast<float>(4 * quads) + kEpsilon);

  for (int i = lane; i < quads; i += kWarp) {
    const float4 x = from[i];
    const float4 w = weight[i];
    const float4 b = bias[i];
    to[i] = {(x.x - mean) * scale * w.x + b.x, (x.y - mean) * scale * w.y + b.y, (x.z - mean) * scale * w.z + b.z,
             (x.w - mean) * scale * w.w + b.w};
  }
  if (lane == 0) {
    means[row] = mean;
    scales[row] = scale;
  }
}
