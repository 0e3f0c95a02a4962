// What is shared with others: memory and events with other processes, of which each has a device of its own, and
// resources with OpenGL, for which there is no display. All functions fail (cudaErrorNotSupported).
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_SHARING_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_SHARING_H_

#include "driver_types.h"

#define CUDA_IPC_HANDLE_SIZE 64
#define cudaIpcMemLazyEnablePeerAccess 0x01
typedef struct cudaIpcMemHandle_st {
  char reserved[CUDA_IPC_HANDLE_SIZE];
} cudaIpcMemHandle_t;
typedef struct cudaIpcEventHandle_st {
  char reserved[CUDA_IPC_HANDLE_SIZE];
} cudaIpcEventHandle_t;
struct cudaMemPoolPtrExportData {
  unsigned char reserved[64];
};
#ifndef __cplusplus
typedef struct cudaMemPoolPtrExportData cudaMemPoolPtrExportData;
#endif

struct cudaGraphicsResource;
typedef struct cudaGraphicsResource* cudaGraphicsResource_t;

enum cudaGraphicsRegisterFlags {
  cudaGraphicsRegisterFlagsNone = 0,
  cudaGraphicsRegisterFlagsReadOnly = 1,
  cudaGraphicsRegisterFlagsWriteDiscard = 2,
  cudaGraphicsRegisterFlagsSurfaceLoadStore = 4,
  cudaGraphicsRegisterFlagsTextureGather = 8
};
enum cudaGraphicsMapFlags {
  cudaGraphicsMapFlagsNone = 0,
  cudaGraphicsMapFlagsReadOnly = 1,
  cudaGraphicsMapFlagsWriteDiscard = 2
};
enum cudaGraphicsCubeFace {
  cudaGraphicsCubeFacePositiveX = 0,
  cudaGraphicsCubeFaceNegativeX = 1,
  cudaGraphicsCubeFacePositiveY = 2,
  cudaGraphicsCubeFaceNegativeY = 3,
  cudaGraphicsCubeFacePositiveZ = 4,
  cudaGraphicsCubeFaceNegativeZ = 5
};

#ifdef __cplusplus
#define HEDDLE_DEFAULT(value) = value
extern "C" {
#else
#define HEDDLE_DEFAULT(value)
#endif

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer);
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned int flags);
cudaError_t cudaIpcCloseMemHandle(void* pointer);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle);
cudaError_t cudaMemPoolExportToShareableHandle(void* handle, cudaMemPool_t pool, enum cudaMemAllocationHandleType type,
                                               unsigned int flags);
cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* pool, void* handle,
                                                 enum cudaMemAllocationHandleType type, unsigned int flags);
cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData* data, void* pointer);
cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t pool, struct cudaMemPoolPtrExportData* data);

cudaError_t cudaGraphicsUnregisterResource(cudaGraphicsResource_t resource);
cudaError_t cudaGraphicsResourceSetMapFlags(cudaGraphicsResource_t resource, unsigned int flags);
cudaError_t cudaGraphicsMapResources(int count, cudaGraphicsResource_t* resources,
                                     cudaStream_t stream HEDDLE_DEFAULT(0));
cudaError_t cudaGraphicsUnmapResources(int count, cudaGraphicsResource_t* resources,
                                       cudaStream_t stream HEDDLE_DEFAULT(0));
cudaError_t cudaGraphicsResourceGetMappedPointer(void** pointer, size_t* bytes, cudaGraphicsResource_t resource);
cudaError_t cudaGraphicsSubResourceGetMappedArray(cudaArray_t* array, cudaGraphicsResource_t resource,
                                                  unsigned int index, unsigned int level);

#ifdef __cplusplus
}
#endif
#undef HEDDLE_DEFAULT

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_SHARING_H_
