// What is shared with others: other processes have devices of their own, and for OpenGL there is no display.
#include "tracegen/runtime/cuda/include/cuda_gl_interop.h"
#include "tracegen/runtime/cuda/state.h"

using heddle::cuda::Fail;

namespace heddle::cuda {
namespace {

cudaError_t NotShared(const char* call) {
  Explain(call, "processes do not share memory and events of a device; copy through the host");
  return Fail(cudaErrorNotSupported);
}
CUresult NotSharedByDriver(const char* call) { return static_cast<CUresult>(NotShared(call)); }

cudaError_t NoGraphics(const char* call) {
  Explain(call, "resources of OpenGL are not supported; run the program without its display, if it can");
  return Fail(cudaErrorNotSupported);
}

}  // namespace
}  // namespace heddle::cuda

using heddle::cuda::NoGraphics;
using heddle::cuda::NotShared;
using heddle::cuda::NotSharedByDriver;

extern "C" {

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) { return NotShared("cudaIpcGetMemHandle"); }
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned int) { return NotShared("cudaIpcOpenMemHandle"); }
cudaError_t cudaIpcCloseMemHandle(void*) { return NotShared("cudaIpcCloseMemHandle"); }
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) { return NotShared("cudaIpcGetEventHandle"); }
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) { return NotShared("cudaIpcOpenEventHandle"); }
cudaError_t cudaMemPoolExportToShareableHandle(void*, cudaMemPool_t, enum cudaMemAllocationHandleType, unsigned int) {
  return NotShared("cudaMemPoolExportToShareableHandle");
}
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t*, void*, enum cudaMemAllocationHandleType,
                                                 unsigned int) {
  return NotShared("cudaMemPoolImportFromShareableHandle");
}
cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData*, void*) {
  return NotShared("cudaMemPoolExportPointer");
}
cudaError_t cudaMemPoolImportPointer(void**, cudaMemPool_t, struct cudaMemPoolPtrExportData*) {
  return NotShared("cudaMemPoolImportPointer");
}

CUresult cuIpcGetMemHandle(CUipcMemHandle*, CUdeviceptr) { return NotSharedByDriver("cuIpcGetMemHandle"); }
CUresult cuIpcOpenMemHandle(CUdeviceptr*, CUipcMemHandle, unsigned int) {
  return NotSharedByDriver("cuIpcOpenMemHandle");
}
CUresult cuIpcCloseMemHandle(CUdeviceptr) { return NotSharedByDriver("cuIpcCloseMemHandle"); }
CUresult cuIpcGetEventHandle(CUipcEventHandle*, CUevent) { return NotSharedByDriver("cuIpcGetEventHandle"); }
CUresult cuIpcOpenEventHandle(CUevent*, CUipcEventHandle) { return NotSharedByDriver("cuIpcOpenEventHandle"); }
CUresult cuMemExportToShareableHandle(void*, CUmemGenericAllocationHandle, CUmemAllocationHandleType,
                                      unsigned long long) {
  return NotSharedByDriver("cuMemExportToShareableHandle");
}
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle*, void*, CUmemAllocationHandleType) {
  return NotSharedByDriver("cuMemImportFromShareableHandle");
}

cudaError_t cudaGLGetDevices(unsigned int* count, int*, unsigned int, enum cudaGLDeviceList) {
  if (count != nullptr) *count = 0;
  return NoGraphics("cudaGLGetDevices");
}
cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource_t*, unsigned int, unsigned int) {
  return NoGraphics("cudaGraphicsGLRegisterBuffer");
}
cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource_t*, unsigned int, unsigned int, unsigned int) {
  return NoGraphics("cudaGraphicsGLRegisterImage");
}
cudaError_t cudaGLSetGLDevice(int device) { return device == 0 ? cudaSuccess : Fail(cudaErrorInvalidDevice); }
cudaError_t cudaGLRegisterBufferObject(unsigned int) { return NoGraphics("cudaGLRegisterBufferObject"); }
cudaError_t cudaGLMapBufferObject(void**, unsigned int) { return NoGraphics("cudaGLMapBufferObject"); }
cudaError_t cudaGLUnmapBufferObject(unsigned int) { return NoGraphics("cudaGLUnmapBufferObject"); }
cudaError_t cudaGLUnregisterBufferObject(unsigned int) { return NoGraphics("cudaGLUnregisterBufferObject"); }

cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t) {
  return NoGraphics("cudaGraphicsUnregisterResource");
}
cudaError_t cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t, unsigned int) {
  return NoGraphics("cudaGraphicsResourceSetMapFlags");
}
cudaError_t cudaGraphicsMapResources(int, cudaGraphicsResource_t*, cudaStream_t) {
  return NoGraphics("cudaGraphicsMapResources");
}
cudaError_t cudaGraphicsUnmapResources(int, cudaGraphicsResource_t*, cudaStream_t) {
  return NoGraphics("cudaGraphicsUnmapResources");
}
cudaError_t cudaGraphicsResourceGetMappedPointer(void**, size_t*, cudaGraphicsResource_t) {
  return NoGraphics("cudaGraphicsResourceGetMappedPointer");
}
cudaError_t cudaGraphicsSubResourceGetMappedArray(cudaArray_t*, cudaGraphicsResource_t, unsigned int, unsigned int) {
  return NoGraphics("cudaGraphicsSubResourceGetMappedArray");
}

}  // extern "C"
