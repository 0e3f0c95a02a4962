// Device code that is linked while the program runs: two modules of which one calls a function of the other, from files
// and from memory, and what is refused.
// module: driver_link_module.cu
// module: driver_link_function_module.cu
#include <cuda.h>
#include <string.h>

#include "check.h"

#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)

int main() {
  DRIVER(cuInit(0));
  CUcontext context;
  CUctxCreateParams parameters = {};
  DRIVER(cuCtxCreate(&context, &parameters, 0, 0));
  char log[200];
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, (void*)sizeof(log)};
  CUlinkState state;
  DRIVER(cuLinkCreate(2, options, values, &state));
  char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n  add.u32 1, 2;\n}\n";
  EXPECT(cuLinkAddData(state, CU_JIT_INPUT_PTX, text, sizeof(text), "text", 0, NULL, NULL) == CUDA_ERROR_INVALID_PTX);
  EXPECT(strstr(log, "text: PTX line 6") != NULL);
  EXPECT(cuLinkAddFile(state, CU_JIT_INPUT_CUBIN, "no_such_file", 0, NULL, NULL) == CUDA_ERROR_FILE_NOT_FOUND);
  void* image;
  size_t bytes;
  EXPECT(cuLinkComplete(state, &image, &bytes) == CUDA_ERROR_NO_BINARY_FOR_GPU);
  DRIVER(cuLinkAddFile(state, CU_JIT_INPUT_CUBIN, "driver_link_module.cubin", 0, NULL, NULL));
  FILE* file = fopen("driver_link_function_module.cubin", "rb");
  static char code[1 << 20];
  const size_t size = fread(code, 1, sizeof(code), file);
  fclose(file);
  EXPECT(cuLinkAddData(state, CU_JIT_INPUT_CUBIN, code, size / 2, "half", 0, NULL, NULL) == CUDA_ERROR_INVALID_IMAGE);
  DRIVER(cuLinkAddData(state, CU_JIT_INPUT_PTX, code, size, "function", 0, NULL, NULL));
  DRIVER(cuLinkComplete(state, &image, &bytes));
  // The image goes with the state; a copy does not.
  static char copy[1 << 20];
  EXPECT(bytes > size && bytes < sizeof(copy));
  memcpy(copy, image, bytes);
  DRIVER(cuLinkDestroy(state));
  EXPECT(cuLinkDestroy(state) == CUDA_ERROR_INVALID_HANDLE);
  CUmodule module;
  CUfunction kernel;
  DRIVER(cuModuleLoadDataEx(&module, copy, 0, NULL, NULL));
  DRIVER(cuModuleGetFunction(&kernel, module, "Apply"));
  CUdeviceptr out;
  DRIVER(cuMemAlloc(&out, 32 * sizeof(int)));
  void* arguments[] = {&out};
  DRIVER(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  int host[32];
  DRIVER(cuMemcpyDtoH(host, out, sizeof(host)));
  for (int i = 0; i < 32; ++i) EXPECT(host[i] == i * 7 + 1);
  DRIVER(cuModuleUnload(module));
  // As programs treat PTX: text that ends with a zero.
  file = fopen("driver_link_function_module.ptx", "r");
  memset(code, 0, sizeof(code));
  EXPECT(fread(code, 1, sizeof(code) - 1, file) > size);
  fclose(file);
  DRIVER(cuModuleLoadData(&module, code));
  size_t seven_bytes = 0;
  DRIVER(cuModuleGetGlobal(&out, &seven_bytes, module, "seven"));
  EXPECT(seven_bytes == sizeof(int));
  DRIVER(cuModuleUnload(module));
  DRIVER(cuModuleLoad(&module, "driver_link_function_module.ptx"));
  DRIVER(cuModuleUnload(module));
  DRIVER(cuLinkCreate(0, NULL, NULL, &state));
  DRIVER(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "driver_link_module.ptx", 0, NULL, NULL));
  DRIVER(cuLinkAddData(state, CU_JIT_INPUT_PTX, code, strlen(code) + 1, "function", 0, NULL, NULL));
  DRIVER(cuLinkComplete(state, &image, &bytes));
  DRIVER(cuModuleLoadData(&module, image));
  DRIVER(cuLinkDestroy(state));
  code[strlen(code) / 2] = '?';
  EXPECT(cuModuleLoadData(&module, code) == CUDA_ERROR_INVALID_IMAGE);
  DRIVER(cuCtxDestroy(context));
  return Finish();
}
