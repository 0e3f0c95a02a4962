// Speckle-reducing anisotropic diffusion of an image: coefficients from gradients, then the update.
//
// Stands for image filters: stencils with clamped borders, branches at the edges and a clamp of the coefficient.

constexpr float kSpeckle = 0.05f;  // q0 squared
constexpr float kStep = 0.1f;

__global__ void coefficients(const float* image, float* coefficient, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float here = image[y * width + x];
  const float north = (y > 0 ? image[(y - 1) * width + x] : here) - here;
  const float south = (y < height - 1 ? image[(y + 1) * width + x] : here) - here;
  const float west = (x > 0 ? image[y * width + x - 1] : here) - here;
  const float east = (x < width - 1 ? image[y * width + x + 1] : here) - here;
  const float gradient = (north * north + south * south + west * west + east * east) / (here * here);
  const float laplacian = (north + south + west + east) / here;
  const float base = 1.0f + 0.25f * laplacian;
  const float q = (0.5f * gradient - 0.0625f * laplacian * laplacian) / (base * base);
  float c = 1.0f / (1.0f + (q - kSpeckle) / (kSpeckle * (1.0f + kSpeckle)));
  if (c < 0.0f) {
    c = 0.0f;
  } else if (c > 1.0f) {
    c = 1.0f;
  }
  coefficient[y * width + x] = c;
}

__global__ void update(const float* image, const float* coefficient, float* result, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  const float here = image[i];
  const float own = coefficient[i];
  float flow = 0.0f;
  if (y > 0) flow += own * (image[i - width] - here);
  if (y < height - 1) flow += coefficient[i + width] * (image[i + width] - here);
  if (x > 0) flow += own * (image[i - 1] - here);
  if (x < width - 1) flow += coefficient[i + 1] * (image[i + 1] - here);
  result[i] = here + 0.25f * kStep * flow;
}
