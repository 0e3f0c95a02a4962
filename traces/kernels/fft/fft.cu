// Fourier transforms of many arrays of 512 complex numbers, one block of 64 threads for each.
//
// Stands for transforms in shared memory: every thread does the same, barriers between the passes, and strides that
// make banks conflict. Radix 2, input in bit-reversed order.

constexpr int kLength = 512;
constexpr int kBits = 9;
constexpr int kThreads = 64;

__global__ void fft(const float* real_in, const float* imaginary_in, float* real_out, float* imaginary_out) {
  __shared__ float real[kLength];
  __shared__ float imaginary[kLength];
  const int base = blockIdx.x * kLength;
  for (int i = threadIdx.x; i < kLength; i += kThreads) {
    const int from = __brev(i) >> (32 - kBits);
    real[i] = real_in[base + from];
    imaginary[i] = imaginary_in[base + from];
  }
  __syncthreads();
  for (int half = 1; half < kLength; half *= 2) {
    for (int i = threadIdx.x; i < kLength / 2; i += kThreads) {
      const int k = i & (half - 1);
      const int low = 2 * (i - k) + k;
      const int high = low + half;
      float sine;
      float cosine;
      sincosf(-3.14159265358979f * static_cast<float>(k) / static_cast<float>(half), &sine, &cosine);
      const float re = real[high] * cosine - imaginary[high] * sine;
      const float im = real[high] * sine + imaginary[high] * cosine;
      real[high] = real[low] - re;
      imaginary[high] = imaginary[low] - im;
      real[low] += re;
      imaginary[low] += im;
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < kLength; i += kThreads) {
    real_out[base + i] = real[i];
    imaginary_out[base + i] = imaginary[i];
  }
}
