// Functions of the driver API under the names that the vendor's cuda.h gives them: objects that were compiled with it
// call these. Arguments and structures are those of our own header.
#include "tracegen/runtime/cuda/api.h"

#pragma GCC visibility push(default)
extern "C" {

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  return cuArray3DCreate(array, description);
}
CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* description, CUarray array) {
  return cuArray3DGetDescriptor(description, array);
}
CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* description) {
  return cuArrayCreate(array, description);
}
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* description, CUarray array) {
  return cuArrayGetDescriptor(description, array);
}
CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  return cuCtxCreate(context, flags, device);
}
CUresult cuCtxDestroy_v2(CUcontext context) { return cuCtxDestroy(context); }
CUresult cuCtxPopCurrent_v2(CUcontext* context) { return cuCtxPopCurrent(context); }
CUresult cuCtxPushCurrent_v2(CUcontext context) { return cuCtxPushCurrent(context); }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return cuDevicePrimaryCtxRelease(device); }
CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) { return cuDevicePrimaryCtxReset(device); }
CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) { return cuDeviceTotalMem(bytes, device); }
CUresult cuEventDestroy_v2(CUevent event) { return cuEventDestroy(event); }
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime(milliseconds, start, end);
}
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char* name,
                          unsigned int count, CUjit_option* options, void** values) {
  return cuLinkAddData(state, type, data, bytes, name, count, options, values);
}
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int count,
                          CUjit_option* options, void** values) {
  return cuLinkAddFile(state, type, path, count, options, values);
}
CUresult cuLinkCreate_v2(unsigned int count, CUjit_option* options, void** values, CUlinkState* state) {
  return cuLinkCreate(count, options, values, state);
}
CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) { return cuMemAllocHost(pointer, bytes); }
CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height,
                            unsigned int element_bytes) {
  return cuMemAllocPitch(pointer, pitch, width, height, element_bytes);
}
CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) { return cuMemAlloc(pointer, bytes); }
CUresult cuMemFree_v2(CUdeviceptr pointer) { return cuMemFree(pointer); }
CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer) {
  return cuMemGetAddressRange(base, bytes, pointer);
}
CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total_bytes) { return cuMemGetInfo(free_bytes, total_bytes); }
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device_pointer, void* pointer, unsigned int flags) {
  return cuMemHostGetDevicePointer(device_pointer, pointer, flags);
}
CUresult cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned int flags) {
  return cuMemHostRegister(pointer, bytes, flags);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) { return cuMemcpy2DAsync(copy, stream); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) { return cuMemcpy2DUnaligned(copy); }
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) { return cuMemcpy2D(copy); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) { return cuMemcpy3DAsync(copy, stream); }
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) { return cuMemcpy3D(copy); }
CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes) {
  return cuMemcpyAtoA(to, to_offset, from, from_offset, bytes);
}
CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return cuMemcpyAtoD(to, from, offset, bytes);
}
CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t bytes, CUstream stream) {
  return cuMemcpyAtoHAsync(to, from, offset, bytes, stream);
}
CUresult cuMemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes) {
  return cuMemcpyAtoH(to, from, offset, bytes);
}
CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return cuMemcpyDtoA(to, offset, from, bytes);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return cuMemcpyDtoDAsync(to, from, bytes, stream);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) { return cuMemcpyDtoD(to, from, bytes); }
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return cuMemcpyDtoHAsync(to, from, bytes, stream);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) { return cuMemcpyDtoH(to, from, bytes); }
CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t bytes, CUstream stream) {
  return cuMemcpyHtoAAsync(to, offset, from, bytes, stream);
}
CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes) {
  return cuMemcpyHtoA(to, offset, from, bytes);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return cuMemcpyHtoDAsync(to, from, bytes, stream);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) { return cuMemcpyHtoD(to, from, bytes); }
CUresult cuMemsetD16_v2(CUdeviceptr pointer, unsigned short value, size_t count) {
  return cuMemsetD16(pointer, value, count);
}
CUresult cuMemsetD32_v2(CUdeviceptr pointer, unsigned int value, size_t count) {
  return cuMemsetD32(pointer, value, count);
}
CUresult cuMemsetD8_v2(CUdeviceptr pointer, unsigned char value, size_t count) {
  return cuMemsetD8(pointer, value, count);
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* pointer, size_t* bytes, CUmodule module, const char* name) {
  return cuModuleGetGlobal(pointer, bytes, module, name);
}
CUresult cuStreamDestroy_v2(CUstream stream) { return cuStreamDestroy(stream); }
CUresult cuTexRefSetAddress2D_v3(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR* description, CUdeviceptr pointer,
                                 size_t pitch) {
  return cuTexRefSetAddress2D(reference, description, pointer, pitch);
}
CUresult cuTexRefSetAddress_v2(size_t* offset, CUtexref reference, CUdeviceptr pointer, size_t bytes) {
  return cuTexRefSetAddress(offset, reference, pointer, bytes);
}

}  // extern "C"
#pragma GCC visibility pop
