// cuBLAS's handle, and copies of vectors and matrices.
#include <cuda_runtime.h>

#include "cublas_api.h"
#include "tracegen/runtime/libraries/blas/context.h"

using heddle::libraries::kScratchBytes;

namespace {

// Columns of `bytes` each, from one leading dimension to another.
cublasStatus_t Copy(int rows, int columns, int element_bytes, const void* from, int ld_from, void* to, int ld_to,
                    cudaMemcpyKind kind) {
  if (rows < 0 || columns < 0 || element_bytes <= 0 || ld_from < rows || ld_to < rows || ld_from < 1 || ld_to < 1) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const size_t element = static_cast<size_t>(element_bytes);
  const cudaError_t error =
      cudaMemcpy2D(to, ld_to * element, from, ld_from * element, rows * element, static_cast<size_t>(columns), kind);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

const char* Describe(cublasStatus_t status, bool name) {
  switch (status) {
#define HEDDLE_STATUS(value, text) \
  case value:                      \
    return name ? #value : text
    HEDDLE_STATUS(CUBLAS_STATUS_SUCCESS, "success");
    HEDDLE_STATUS(CUBLAS_STATUS_NOT_INITIALIZED, "the handle has not been created");
    HEDDLE_STATUS(CUBLAS_STATUS_ALLOC_FAILED, "memory could not be allocated");
    HEDDLE_STATUS(CUBLAS_STATUS_INVALID_VALUE, "an argument is out of range");
    HEDDLE_STATUS(CUBLAS_STATUS_ARCH_MISMATCH, "the device lacks a feature");
    HEDDLE_STATUS(CUBLAS_STATUS_MAPPING_ERROR, "a copy failed");
    HEDDLE_STATUS(CUBLAS_STATUS_EXECUTION_FAILED, "a kernel failed");
    HEDDLE_STATUS(CUBLAS_STATUS_INTERNAL_ERROR, "internal error");
    HEDDLE_STATUS(CUBLAS_STATUS_NOT_SUPPORTED, "these types or sizes have no stand-in");
    HEDDLE_STATUS(CUBLAS_STATUS_LICENSE_ERROR, "licence error");
#undef HEDDLE_STATUS
  }
  return name ? "CUBLAS_STATUS_?" : "unknown status";
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasContext;
  if (cudaMalloc(&(*handle)->scratch, kScratchBytes) == cudaSuccess) return CUBLAS_STATUS_SUCCESS;
  delete *handle;
  *handle = nullptr;
  return CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  cudaFree(handle->scratch);
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
  const int values[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
  *value = values[type];
  return CUBLAS_STATUS_SUCCESS;
}

size_t cublasGetCudartVersion(void) { return CUDART_VERSION; }

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, size_t) {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (stream == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode < CUBLAS_POINTER_MODE_HOST || mode > CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_INVALID_VALUE;
  handle->pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle->pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->math_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle->math_mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode < CUBLAS_ATOMICS_NOT_ALLOWED || mode > CUBLAS_ATOMICS_ALLOWED) return CUBLAS_STATUS_INVALID_VALUE;
  handle->atomics_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle->atomics_mode;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) { return Describe(status, true); }
const char* cublasGetStatusString(cublasStatus_t status) { return Describe(status, false); }

// A vector with a stride is the first row of a matrix.
cublasStatus_t cublasSetVector(int n, int element_bytes, const void* host, int host_stride, void* device,
                               int device_stride) {
  return Copy(1, n, element_bytes, host, host_stride, device, device_stride, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetVector(int n, int element_bytes, const void* device, int device_stride, void* host,
                               int host_stride) {
  return Copy(1, n, element_bytes, device, device_stride, host, host_stride, cudaMemcpyDeviceToHost);
}
cublasStatus_t cublasSetMatrix(int rows, int columns, int element_bytes, const void* host, int ld_host, void* device,
                               int ld_device) {
  return Copy(rows, columns, element_bytes, host, ld_host, device, ld_device, cudaMemcpyHostToDevice);
}
cublasStatus_t cublasGetMatrix(int rows, int columns, int element_bytes, const void* device, int ld_device, void* host,
                               int ld_host) {
  return Copy(rows, columns, element_bytes, device, ld_device, host, ld_host, cudaMemcpyDeviceToHost);
}

}  // extern "C"
