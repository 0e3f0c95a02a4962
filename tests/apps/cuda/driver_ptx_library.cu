// Libraries of device code, of the driver API and of the runtime: PTX text from memory and from a file, kernels as
// handles that both APIs take, variables.
// module: driver_ptx_library_module.cu
#include <cuda.h>
#include <string.h>

#include "check.h"

#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)

static const char kText[] = R"(
.version 8.0
.target sm_70
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 added = 1;
.visible .const .align 4 .u32 factor = 2;
.visible .global .align 4 .u32 plain = 3;
.visible .entry scale(.param .u64 data, .param .u32 count)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [data];
  ld.param.u32 %r0, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.ge.u32 %p0, %r1, %r0;
  @%p0 exit;
  mul.wide.u32 %rd1, %r1, 4;
  add.u64 %rd1, %rd0, %rd1;
  ld.global.u32 %r4, [%rd1];
  ld.const.u32 %r5, [factor];
  ld.global.u32 %r6, [added];
  mad.lo.u32 %r4, %r4, %r5, %r6;
  st.global.u32 [%rd1], %r4;
  ret;
}
.visible .entry nothing()
{
  ret;
}
)";

__global__ void Increment(unsigned int* data, unsigned int count) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] += 10;
}

static const unsigned int kCount = 50;

static void Driver() {
  CUlibrary library;
  DRIVER(cuLibraryLoadData(&library, kText, NULL, NULL, 0, NULL, NULL, 0));
  CUkernel kernel, listed[2];
  DRIVER(cuLibraryGetKernel(&kernel, library, "scale"));
  EXPECT(cuLibraryGetKernel(&kernel, library, "no_such") == CUDA_ERROR_NOT_FOUND);
  unsigned int kernels = 0;
  DRIVER(cuLibraryGetKernelCount(&kernels, library));
  DRIVER(cuLibraryEnumerateKernels(listed, 2, library));
  const char* name = "";
  DRIVER(cuKernelGetName(&name, listed[1]));
  EXPECT(kernels == 2 && listed[0] == kernel && strcmp(name, "nothing") == 0);
  CUlibrary owner;
  DRIVER(cuKernelGetLibrary(&owner, kernel));
  EXPECT(owner == library);
  int registers = 0;
  DRIVER(cuKernelGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0));
  EXPECT(registers > 2);
  size_t offset = 0, bytes = 0;
  DRIVER(cuKernelGetParamInfo(kernel, 1, &offset, &bytes));
  EXPECT(offset == 8 && bytes == 4);

  CUdeviceptr factor, added;
  DRIVER(cuLibraryGetGlobal(&factor, &bytes, library, "factor"));
  EXPECT(bytes == 4);
  EXPECT(cuLibraryGetManaged(&added, &bytes, library, "factor") == CUDA_ERROR_NOT_FOUND);
  EXPECT(cuLibraryGetManaged(&added, &bytes, library, "plain") == CUDA_ERROR_NOT_FOUND);
  DRIVER(cuLibraryGetManaged(&added, &bytes, library, "added"));
  EXPECT(*(unsigned int*)added == 1);
  *(unsigned int*)added = 4;

  unsigned int* data;
  CALL(cudaMalloc(&data, kCount * sizeof(unsigned int)));
  CALL(cudaMemset(data, 0, kCount * sizeof(unsigned int)));
  unsigned int count = kCount;
  void* arguments[] = {&data, &count};
  // As a function without more ado, and as one that was asked for; of a module, too.
  DRIVER(cuLaunchKernel((CUfunction)kernel, 2, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  CUfunction function, same;
  CUmodule module;
  DRIVER(cuKernelGetFunction(&function, kernel));
  DRIVER(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuLibraryGetModule(&module, library));
  DRIVER(cuModuleGetFunction(&same, module, "scale"));
  DRIVER(cuLaunchKernel(same, 2, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  unsigned int host[kCount];
  CALL(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
  for (unsigned int i = 0; i < kCount; ++i) EXPECT(host[i] == 28);
  DRIVER(cuLibraryUnload(library));
  EXPECT(cuLibraryUnload(library) == CUDA_ERROR_INVALID_HANDLE);
  EXPECT(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL) == CUDA_ERROR_INVALID_HANDLE);
  CALL(cudaFree(data));
}

// Device code of ours that is loaded as a library.
static void Compiled() {
  const char* const paths[] = {"driver_ptx_library_module.cubin", "driver_ptx_library_module.ptx"};
  for (const char* path : paths) {
    CUlibrary library;
    CUkernel add;
    CUdeviceptr shown, hidden;
    size_t bytes;
    DRIVER(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
    DRIVER(cuLibraryGetKernel(&add, library, "Add"));
    EXPECT(cuLibraryGetManaged(&hidden, &bytes, library, "hidden") == CUDA_ERROR_NOT_FOUND);
    DRIVER(cuLibraryGetGlobal(&hidden, &bytes, library, "hidden"));
    DRIVER(cuLibraryGetManaged(&shown, &bytes, library, "shown"));
    EXPECT(bytes == sizeof(int) && *(int*)shown == 6);
    *(int*)shown = 30;
    int* out;
    CALL(cudaMallocManaged(&out, sizeof(int)));
    void* arguments[] = {&out};
    DRIVER(cuLaunchKernel((CUfunction)add, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    CALL(cudaDeviceSynchronize());
    EXPECT(*out == 37);
    CALL(cudaFree(out));
    DRIVER(cuLibraryUnload(library));
  }
}

static void Runtime() {
  FILE* file = fopen("driver_ptx_library.ptx", "w");
  fputs(kText, file);
  fclose(file);
  cudaLibrary_t library;
  char errors[200];
  enum cudaJitOption options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  void* values[] = {errors, (void*)sizeof(errors)};
  EXPECT(cudaLibraryLoadData(&library, ".version 7.0\n?", options, values, 2, NULL, NULL, 0) == cudaErrorInvalidPtx);
  EXPECT(strstr(errors, "PTX line 2") != NULL);
  EXPECT(cudaLibraryLoadFromFile(&library, "no_such", NULL, NULL, 0, NULL, NULL, 0) == cudaErrorFileNotFound);
  CALL(cudaLibraryLoadFromFile(&library, "driver_ptx_library.ptx", NULL, NULL, 0, NULL, NULL, 0));
  cudaKernel_t scale, increment;
  CALL(cudaLibraryGetKernel(&scale, library, "scale"));
  EXPECT(cudaLibraryGetKernel(&scale, library, "no_such") == cudaErrorSymbolNotFound);
  CALL(cudaGetKernel(&increment, (const void*)Increment));
  EXPECT(cudaGetKernel(&increment, (const void*)strlen) == cudaErrorInvalidDeviceFunction);
  void* pointer;
  size_t bytes;
  CALL(cudaLibraryGetGlobal(&pointer, &bytes, library, "added"));
  EXPECT(bytes == 4);

  unsigned int* data;
  CALL(cudaMalloc(&data, kCount * sizeof(unsigned int)));
  CALL(cudaMemset(data, 0, kCount * sizeof(unsigned int)));
  unsigned int count = kCount;
  void* arguments[] = {&data, &count};
  CALL(cudaLaunchKernel((const void*)increment, dim3(2), dim3(32), arguments, 0, NULL));
  CALL(cudaLaunchKernel((const void*)scale, dim3(2), dim3(32), arguments, 0, NULL));
  // The program's own kernel as a function of the driver.
  cudaFunction_t function;
  CALL(cudaGetFuncBySymbol(&function, (const void*)Increment));
  DRIVER(cuLaunchKernel(function, 2, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  unsigned int host[kCount];
  CALL(cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost));
  for (unsigned int i = 0; i < kCount; ++i) EXPECT(host[i] == 31);
  struct cudaFuncAttributes attributes;
  CALL(cudaFuncGetAttributes(&attributes, (const void*)scale));
  EXPECT(attributes.constSizeBytes == 4 && attributes.ptxVersion == 70 && attributes.maxThreadsPerBlock == 1024);
  CALL(cudaLibraryUnload(library));
  CALL(cudaFree(data));
}

int main() {
  DRIVER(cuInit(0));
  Driver();
  Compiled();
  Runtime();
  return Finish();
}
