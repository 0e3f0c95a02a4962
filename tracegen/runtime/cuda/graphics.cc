// Resources shared with OpenGL: there is no display, so nothing can be registered.
#include "tracegen/runtime/cuda/include/cuda_gl_interop.h"
#include "tracegen/runtime/cuda/state.h"

using heddle::cuda::Fail;

namespace heddle::cuda {
namespace {

cudaError_t NoGraphics(const char* call) {
  Explain(call, "resources of OpenGL are not supported; run the program without its display, if it can");
  return Fail(cudaErrorNotSupported);
}

}  // namespace
}  // namespace heddle::cuda

extern "C" {

cudaError_t cudaGLGetDevices(unsigned int* count, int*, unsigned int, enum cudaGLDeviceList) {
  if (count != nullptr) *count = 0;
  return heddle::cuda::NoGraphics("cudaGLGetDevices");
}
cudaError_t cudaGraphicsGLRegisterBuffer(cudaGraphicsResource_t*, unsigned int, unsigned int) {
  return heddle::cuda::NoGraphics("cudaGraphicsGLRegisterBuffer");
}
cudaError_t cudaGraphicsGLRegisterImage(cudaGraphicsResource_t*, unsigned int, unsigned int, unsigned int) {
  return heddle::cuda::NoGraphics("cudaGraphicsGLRegisterImage");
}
cudaError_t cudaGLSetGLDevice(int device) { return device == 0 ? cudaSuccess : Fail(cudaErrorInvalidDevice); }
cudaError_t cudaGLRegisterBufferObject(unsigned int) { return heddle::cuda::NoGraphics("cudaGLRegisterBufferObject"); }
cudaError_t cudaGLMapBufferObject(void**, unsigned int) { return heddle::cuda::NoGraphics("cudaGLMapBufferObject"); }
cudaError_t cudaGLUnmapBufferObject(unsigned int) { return heddle::cuda::NoGraphics("cudaGLUnmapBufferObject"); }
cudaError_t cudaGLUnregisterBufferObject(unsigned int) {
  return heddle::cuda::NoGraphics("cudaGLUnregisterBufferObject");
}

cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t) {
  return heddle::cuda::NoGraphics("cudaGraphicsUnregisterResource");
}
cudaError_t cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t, unsigned int) {
  return heddle::cuda::NoGraphics("cudaGraphicsResourceSetMapFlags");
}
cudaError_t cudaGraphicsMapResources(int, cudaGraphicsResource_t*, cudaStream_t) {
  return heddle::cuda::NoGraphics("cudaGraphicsMapResources");
}
cudaError_t cudaGraphicsUnmapResources(int, cudaGraphicsResource_t*, cudaStream_t) {
  return heddle::cuda::NoGraphics("cudaGraphicsUnmapResources");
}
cudaError_t cudaGraphicsResourceGetMappedPointer(void**, size_t*, cudaGraphicsResource_t) {
  return heddle::cuda::NoGraphics("cudaGraphicsResourceGetMappedPointer");
}
cudaError_t cudaGraphicsSubResourceGetMappedArray(cudaArray_t*, cudaGraphicsResource_t, unsigned int, unsigned int) {
  return heddle::cuda::NoGraphics("cudaGraphicsSubResourceGetMappedArray");
}

}  // extern "C"
