// The Q matrix of magnetic resonance imaging: for every voxel a sum of sines and cosines over all samples.
//
// Stands for special functions in a regular loop: no divergence, hardly any memory traffic.

// Five numbers for a sample: position x, y, z, real and imaginary part.
__constant__ float samples[5 * 512];

__global__ void mri_q(const float* x, const float* y, const float* z, float* real, float* imaginary, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float re = 0.0f;
  float im = 0.0f;
  for (int k = 0; k < count; ++k) {
    const float phase = 6.28318531f * (samples[5 * k] * x[i] + samples[5 * k + 1] * y[i] + samples[5 * k + 2] * z[i]);
    const float power = samples[5 * k + 3] * samples[5 * k + 3] + samples[5 * k + 4] * samples[5 * k + 4];
    re += power * cosf(phase);
    im += power * sinf(phase);
  }
  real[i] = re;
  imaginary[i] = im;
}
