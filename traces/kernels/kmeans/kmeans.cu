// One step of k-means: every point finds the nearest of the centres.
//
// Stands for clustering: a regular double loop; features lie point by point, so that the lanes of a warp read far
// apart.

__global__ void kmeans(const float* points, const float* centres, int* member, int count, int clusters, int features) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int best = 0;
  float least = 3.0e38f;
  for (int c = 0; c < clusters; ++c) {
    float distance = 0.0f;
    for (int f = 0; f < features; ++f) {
      const float d = points[i * features + f] - centres[c * features + f];
      distance += d * d;
    }
    if (distance < least) {
      least = distance;
      best = c;
    }
  }
  member[i] = best;
}
