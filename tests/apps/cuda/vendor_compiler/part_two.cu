// The other half.
__device__ int shared_value = 11;
__device__ int Twice(int value) { return 2 * value; }
