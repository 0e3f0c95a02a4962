// Names of devices, streams and events for a profiler's timeline (NVTX 3): accepted, and without effect.
#ifndef NVTOOLSEXT_CUDART_H_
#define NVTOOLSEXT_CUDART_H_

#include "driver_types.h"
#include "nvToolsExt.h"

static inline void nvtxNameCudaDeviceA(int device, const char* name) {
  (void)device;
  (void)name;
}
static inline void nvtxNameCudaDeviceW(int device, const wchar_t* name) {
  (void)device;
  (void)name;
}
static inline void nvtxNameCudaStreamA(cudaStream_t stream, const char* name) {
  (void)stream;
  (void)name;
}
static inline void nvtxNameCudaStreamW(cudaStream_t stream, const wchar_t* name) {
  (void)stream;
  (void)name;
}
static inline void nvtxNameCudaEventA(cudaEvent_t event, const char* name) {
  (void)event;
  (void)name;
}
static inline void nvtxNameCudaEventW(cudaEvent_t event, const wchar_t* name) {
  (void)event;
  (void)name;
}
#define nvtxNameCudaDevice nvtxNameCudaDeviceA
#define nvtxNameCudaStream nvtxNameCudaStreamA
#define nvtxNameCudaEvent nvtxNameCudaEventA

#endif  // NVTOOLSEXT_CUDART_H_
