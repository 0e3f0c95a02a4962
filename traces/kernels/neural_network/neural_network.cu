// Two layers of a small network for pictures of 28 x 28 points: a convolution with subsampling, then all to all.
//
// Stands for inference with small blocks: 13 x 13 threads do not fill their last warp, the second layer has 10 outputs.

constexpr int kSide = 28;
constexpr int kMaps = 6;
constexpr int kOut = 13;  // side of a map: 5 x 5 filters, every second place, with a border of one
constexpr int kClasses = 10;

// Block: one picture (x) and one map (y).
__global__ void convolution(const float* pictures, const float* filters, float* maps) {
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const float* const picture = pictures + blockIdx.x * kSide * kSide;
  const float* const filter = filters + blockIdx.y * 26;
  float sum = filter[25];
  for (int fy = 0; fy < 5; ++fy) {
    for (int fx = 0; fx < 5; ++fx) {
      const int x = 2 * tx + fx - 1;
      const int y = 2 * ty + fy - 1;
      if (x >= 0 && x < kSide && y >= 0 && y < kSide) sum += filter[5 * fy + fx] * picture[y * kSide + x];
    }
  }
  maps[((blockIdx.x * kMaps + blockIdx.y) * kOut + ty) * kOut + tx] = sum > 0.0f ? sum : 0.1f * sum;
}

// A thread per picture and class.
__global__ void all_to_all(const float* maps, const float* weights, float* outputs, int pictures) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int picture = i / kClasses;
  if (picture >= pictures) return;
  const int length = kMaps * kOut * kOut;
  const float* const weight = weights + i % kClasses * length;
  const float* const map = maps + picture * length;
  float sum = 0.0f;
  for (int k = 0; k < length; ++k) sum += weight[k] * map[k];
  outputs[i] = 1.7159f * tanhf(0.666667f * sum);
}
