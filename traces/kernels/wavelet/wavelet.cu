// Two-dimensional wavelet transform of an image, one level: the reversible 5/3 filter by lifting, rows then columns.
//
// Stands for filters with mirrored borders: threads at a line's ends take another branch; a barrier per lifting step.

// Block b transforms line b of `length` numbers, `step` apart, lines `line_step` apart. length = 2 * blockDim.x.
__global__ void wavelet(const int* in, int* out, int step, int line_step) {
  extern __shared__ int line[];
  const int t = threadIdx.x;
  const int half = blockDim.x;
  const int* const from = in + blockIdx.x * line_step;
  line[t] = from[t * step];
  line[t + half] = from[(t + half) * step];
  __syncthreads();
  const int even = line[2 * t];
  int right;
  if (t == half - 1) {
    right = even;  // mirrored
  } else {
    right = line[2 * t + 2];
  }
  const int detail = line[2 * t + 1] - ((even + right) >> 1);
  __syncthreads();
  line[2 * t + 1] = detail;
  __syncthreads();
  int left;
  if (t == 0) {
    left = detail;  // mirrored
  } else {
    left = line[2 * t - 1];
  }
  const int smooth = even + ((left + detail + 2) >> 2);
  int* const to = out + blockIdx.x * line_step;
  to[t * step] = smooth;
  to[(t + half) * step] = detail;
}
