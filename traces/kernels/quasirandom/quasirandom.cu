// A low-discrepancy sequence in several dimensions, and its transformation to normally distributed numbers.
//
// Stands for number generators: bit loops that do not diverge, then an inverse distribution with three branches that
// neighbouring numbers take differently but rarely.

constexpr int kBits = 31;

// numbers[d * count + i] = i-th number of dimension d (blockIdx.y), in [0, 1).
__global__ void sequence(const unsigned* directions, float* numbers, int count) {
  const int stride = gridDim.x * blockDim.x;
  const unsigned* const own = directions + blockIdx.y * kBits;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    unsigned value = 0;
    for (int bit = 0, rest = i; bit < kBits; ++bit, rest >>= 1) value ^= (rest & 1) != 0 ? own[bit] : 0u;
    numbers[blockIdx.y * count + i] = static_cast<float>(value >> 7) * (1.0f / 16777216.0f);
  }
}

// The inverse of the normal distribution by rational functions: one for the middle, one for each tail.
__global__ void normal(const float* numbers, float* values, int count) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
    const float p = fminf(fmaxf(numbers[i], 1e-6f), 1.0f - 1e-6f);
    float result;
    if (p < 0.02425f || p > 0.97575f) {
      const float tail = p < 0.5f ? p : 1.0f - p;
      const float q = sqrtf(-2.0f * logf(tail));
      const float above =
          ((((-0.007784894f * q - 0.3223965f) * q - 2.400758f) * q - 2.549733f) * q + 4.374664f) * q + 2.938164f;
      const float below = (((0.007784696f * q + 0.3224671f) * q + 2.445134f) * q + 3.754409f) * q + 1.0f;
      result = above / below;
      if (p > 0.5f) result = -result;
    } else {
      const float q = p - 0.5f;
      const float r = q * q;
      const float above =
          (((((-39.69683f * r + 220.9461f) * r - 275.9285f) * r + 138.3578f) * r - 30.66480f) * r + 2.506628f) * q;
      const float below = ((((-54.47610f * r + 161.5858f) * r - 155.6990f) * r + 66.80131f) * r - 13.28068f) * r + 1.0f;
      result = above / below;
    }
    values[i] = result;
  }
}
