// Follows points of a heart's wall from one picture to the next: one block per point tries all places in a window.
//
// Stands for tracking: a block works through several phases with barriers, the last of them a tree that few threads
// take part in; ties go to the place that comes first.

constexpr int kThreads = 128;
constexpr int kTemplate = 5;  // side of what is looked for
constexpr int kWindow = 13;   // side of where it may have gone

__global__ void heart_wall(const unsigned char* before, const unsigned char* now, const int* x, const int* y,
                           int* new_x, int* new_y, int width) {
  __shared__ int pattern[kTemplate * kTemplate];
  __shared__ int difference[kThreads];
  __shared__ int place[kThreads];
  const int t = threadIdx.x;
  const int px = x[blockIdx.x];
  const int py = y[blockIdx.x];
  if (t < kTemplate * kTemplate) {
    pattern[t] = before[(py + t / kTemplate - kTemplate / 2) * width + px + t % kTemplate - kTemplate / 2];
  }
  __syncthreads();
  int best = 0x7fffffff;
  int best_place = 0;
  for (int candidate = t; candidate < kWindow * kWindow; candidate += kThreads) {
    const int cx = px + candidate % kWindow - kWindow / 2;
    const int cy = py + candidate / kWindow - kWindow / 2;
    int sum = 0;
    for (int i = 0; i < kTemplate * kTemplate && sum < best; ++i) {
      const int d = now[(cy + i / kTemplate - kTemplate / 2) * width + cx + i % kTemplate - kTemplate / 2] - pattern[i];
      sum += d * d;
    }
    if (sum < best) {
      best = sum;
      best_place = candidate;
    }
  }
  difference[t] = best;
  place[t] = best_place;
  for (int stride = kThreads / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (t < stride) {
      const bool other_first = place[t + stride] < place[t];
      if (difference[t + stride] < difference[t] || (difference[t + stride] == difference[t] && other_first)) {
        difference[t] = difference[t + stride];
        place[t] = place[t + stride];
      }
    }
  }
  if (t == 0) {
    new_x[blockIdx.x] = px + place[0] % kWindow - kWindow / 2;
    new_y[blockIdx.x] = py + place[0] / kWindow - kWindow / 2;
  }
}
