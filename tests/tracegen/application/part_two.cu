__device__ int shared_counter = 40;

__device__ __noinline__ int Twice(int value) { return 2 * value; }
