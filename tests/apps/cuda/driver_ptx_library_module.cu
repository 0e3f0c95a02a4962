// The library in a file that driver_ptx_library.cu loads: one variable that is managed, and one that is not.
extern "C" {
__managed__ int shown = 6;
__device__ int hidden = 7;

__global__ void Add(int* out) { *out = shown + hidden; }
}
