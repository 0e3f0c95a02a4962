// Resources shared with OpenGL: programs with a display compile and link; the calls fail (cudaErrorNotSupported).
#ifndef __CUDA_GL_INTEROP_H__
#define __CUDA_GL_INTEROP_H__

#include "cuda_runtime_api.h"

#if defined(__has_include)
#if __has_include(<GL/gl.h>)
#include <GL/gl.h>
#endif
#endif

enum cudaGLDeviceList { cudaGLDeviceListAll = 1, cudaGLDeviceListCurrentFrame = 2, cudaGLDeviceListNextFrame = 3 };
enum cudaGLMapFlags { cudaGLMapFlagsNone = 0, cudaGLMapFlagsReadOnly = 1, cudaGLMapFlagsWriteDiscard = 2 };

#ifdef __cplusplus
extern "C" {
#endif

// Buffers and images are named by OpenGL's unsigned numbers (GLuint), targets by GLenum.
cudaError_t cudaGLGetDevices(unsigned int* count, int* devices, unsigned int room, enum cudaGLDeviceList list);
cudaError_t cudaGraphicsGLRegisterBuffer(struct cudaGraphicsResource** resource, unsigned int buffer,
                                         unsigned int flags);
cudaError_t cudaGraphicsGLRegisterImage(struct cudaGraphicsResource** resource, unsigned int image, unsigned int target,
                                        unsigned int flags);
// Names before CUDA 3.
cudaError_t cudaGLSetGLDevice(int device);
cudaError_t cudaGLRegisterBufferObject(unsigned int buffer);
cudaError_t cudaGLMapBufferObject(void** pointer, unsigned int buffer);
cudaError_t cudaGLUnmapBufferObject(unsigned int buffer);
cudaError_t cudaGLUnregisterBufferObject(unsigned int buffer);

#ifdef __cplusplus
}
#endif

#endif  // __CUDA_GL_INTEROP_H__
