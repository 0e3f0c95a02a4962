// The driver API's profiler, which is always off.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDAPROFILER_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDAPROFILER_H_

#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CUoutput_mode_enum { CU_OUT_KEY_VALUE_PAIR = 0, CU_OUT_CSV = 1 } CUoutput_mode;

CUresult cuProfilerInitialize(const char* configuration_file, const char* output_file, CUoutput_mode mode);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

#ifdef __cplusplus
}
#endif

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDAPROFILER_H_
