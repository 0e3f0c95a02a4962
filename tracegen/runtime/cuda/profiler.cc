// The driver API's profiler, which is always off.
#include "tracegen/runtime/cuda/include/cudaProfiler.h"

extern "C" {

CUresult cuProfilerInitialize(const char*, const char*, CUoutput_mode) { return CUDA_SUCCESS; }
CUresult cuProfilerStart() { return CUDA_SUCCESS; }
CUresult cuProfilerStop() { return CUDA_SUCCESS; }

}  // extern "C"
