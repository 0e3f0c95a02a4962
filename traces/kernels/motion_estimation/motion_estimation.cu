// Sums of absolute differences of a 4 x 4 block of an image with every place nearby in the picture before.
//
// Stands for video coding: integer arithmetic on bytes, places beyond the border are clamped, blocks of 61 threads do
// not fill their second warp.

constexpr int kBlock = 4;

// Block (bx, by): thread t tries offset (t % side - radius, ...), several rows of offsets in turn.
__global__ void motion_estimation(const unsigned char* now, const unsigned char* before, unsigned short* sums,
                                  int width, int height, int radius) {
  const int side = 2 * radius + 1;
  const int x0 = blockIdx.x * kBlock;
  const int y0 = blockIdx.y * kBlock;
  for (int place = threadIdx.x; place < side * side; place += blockDim.x) {
    const int dx = place % side - radius;
    const int dy = place / side - radius;
    int sum = 0;
    for (int y = 0; y < kBlock; ++y) {
      const int from_y = min(max(y0 + y + dy, 0), height - 1);
      for (int x = 0; x < kBlock; ++x) {
        const int from_x = min(max(x0 + x + dx, 0), width - 1);
        sum += abs(now[(y0 + y) * width + x0 + x] - before[from_y * width + from_x]);
      }
    }
    sums[(blockIdx.y * gridDim.x + blockIdx.x) * side * side + place] = static_cast<unsigned short>(sum);
  }
}
