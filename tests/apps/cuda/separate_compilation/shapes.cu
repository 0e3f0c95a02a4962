// Kernels that call a device function of another file; a static kernel and variable with names that main.cu has, too.
#include "numbers.h"

static __device__ int bias = 100;

static __global__ void Kernel(int* out) { out[threadIdx.x] = Weigh(threadIdx.x) + bias; }

void RunShapes(int* out, int n) { Kernel<<<1, n>>>(out); }
