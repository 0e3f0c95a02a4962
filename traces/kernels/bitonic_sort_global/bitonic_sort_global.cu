// Sorts segments of 2 * blockDim.x numbers in global memory, one bitonic comparison per thread and step.
//
// Stands for sorting without shared memory: the data-dependent exchange of `bitonic_sort` with every access going to
// memory, and a barrier between steps.

__global__ void bitonic_sort_global(unsigned* values) {
  const int length = 2 * blockDim.x;
  unsigned* const segment = values + blockIdx.x * length;
  for (int size = 2; size <= length; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      const int low = 2 * threadIdx.x - (threadIdx.x & (distance - 1));
      const int high = low + distance;
      const bool ascending = (low & size) == 0;
      const unsigned a = segment[low];
      const unsigned b = segment[high];
      if ((a > b) == ascending) {
        segment[low] = b;
        segment[high] = a;
      }
      __syncthreads();
    }
  }
}
