// Memory and events of several processes: each process has a device of its own, so there is nothing to share.
#include "tracegen/runtime/cuda/state.h"

using heddle::cuda::Fail;

namespace heddle::cuda {
namespace {

cudaError_t NotShared(const char* call) {
  Explain(call, "processes do not share memory and events of a device; copy through the host");
  return Fail(cudaErrorNotSupported);
}
CUresult NotSharedByDriver(const char* call) { return static_cast<CUresult>(NotShared(call)); }

}  // namespace
}  // namespace heddle::cuda

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

}  // extern "C"
