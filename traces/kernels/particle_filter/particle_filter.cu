// One frame of a particle filter that tracks an object in a picture: weights, their running sum, resampling.
//
// Stands for filters with a serial part: a kernel of one thread between two parallel ones, and a search in which every
// thread stops after another number of steps. All numbers are integers, so that no sum depends on its order.

constexpr int kPoints = 9;  // of the object, around its centre

// A particle's weight is large where the picture is bright (228) and small where it is dark (100).
__global__ void likelihood(const int* x, const int* y, const unsigned char* picture, int* weight, int particles,
                           int width, int height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= particles) return;
  int sum = 0;
  for (int p = 0; p < kPoints; ++p) {
    const int px = x[i] + p % 3 - 1;
    const int py = y[i] + p / 3 - 1;
    if (px < 0 || px >= width || py < 0 || py >= height) continue;
    const int pixel = picture[py * width + px];
    sum += (pixel - 100) * (pixel - 100) - (pixel - 228) * (pixel - 228);
  }
  weight[i] = sum > 0 ? sum / 256 + 1 : 1;
}

// One thread.
__global__ void running_sum(const int* weight, int* sums, int particles) {
  int sum = 0;
  for (int i = 0; i < particles; ++i) {
    sum += weight[i];
    sums[i] = sum;
  }
}

// Particle i continues the one that holds the i-th of equally spaced shares of the weight.
__global__ void resample(const int* x, const int* y, const int* sums, int* new_x, int* new_y, int particles) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= particles) return;
  const int total = sums[particles - 1];
  const int share = static_cast<int>((2ll * i + 1) * total / (2 * particles));
  int chosen = particles - 1;
  for (int j = 0; j < particles; ++j) {
    if (sums[j] > share) {
      chosen = j;
      break;
    }
  }
  new_x[i] = x[chosen];
  new_y[i] = y[chosen];
}
