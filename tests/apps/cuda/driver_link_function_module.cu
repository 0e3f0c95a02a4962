// The other half.
__device__ int seven = 7;
__device__ int Transform(int value) { return value; }
