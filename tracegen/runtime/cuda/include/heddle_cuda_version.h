// The version of CUDA that programs are told of: heddle-nvcc --cuda-version, or 12.4. Nothing else depends on it.
#ifndef HEDDLE_CUDA_VERSION_H_
#define HEDDLE_CUDA_VERSION_H_

#ifndef HEDDLE_CUDA_VERSION
#define HEDDLE_CUDA_VERSION 12040
#endif

#endif  // HEDDLE_CUDA_VERSION_H_
