// Functions that are called through a pointer, and so have to save the convergence barriers of their callers (BMOV), in
// code that diverges at every level.
__device__ __noinline__ int Leaf(int x, int n) {
  int sum = 0;
  for (int i = 0; i < (x & 7); ++i) {
    if ((x >> i) & 1) {
      sum += i * n;
    } else {
      sum ^= x + i;
    }
    if (sum > 1000) break;
  }
  return sum;
}

__device__ __noinline__ int Inner(int n, int x) {
  if (n < 2) return n + Leaf(x, n);
  int sum = Leaf(x + 1, n - 1);
  if (x & 1) {
    sum += Leaf(sum, n);
  } else {
    sum += Leaf(x ^ n, n - 2);
  }
  return sum;
}

__device__ __noinline__ int Outer(int n, int x) {
  if (n < 2) return n + Leaf(x, n);
  int sum = Inner(n - 1, x + 1);
  if (x & 1) {
    sum += Leaf(sum, n);
  } else {
    sum += Inner(n - 2, x ^ n);
  }
  return sum;
}

extern "C" __global__ void calls(const int* in, int* out) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int mine = in[thread];
  int sum = 0;
  for (int k = 0; k < (mine & 3) + 1; ++k) {
    if (mine & 4) {
      int (*function)(int, int) = (mine & 64) ? Outer : Inner;
      sum += function((mine >> 3 & 3) + 1, thread + k);
    } else {
      sum -= Leaf(thread, k);
    }
  }
  out[thread] = sum;
}
