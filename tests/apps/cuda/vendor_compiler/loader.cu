// Loads each file that it is given as a module, and runs its kernel.
#include <cuda.h>

#include <fstream>
#include <iterator>
#include <string>

#include "../check.h"

#define DRIVER(call) EXPECT((call) == CUDA_SUCCESS)

static void Use(CUmodule module) {
  CUfunction add;
  DRIVER(cuModuleGetFunction(&add, module, "Add"));
  CUdeviceptr data;
  int host[40], count = 40;
  DRIVER(cuMemAlloc(&data, sizeof(host)));
  DRIVER(cuMemsetD32(data, 1, count));
  void* arguments[] = {&data, &count};
  DRIVER(cuLaunchKernel(add, 2, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  DRIVER(cuMemcpyDtoH(host, data, sizeof(host)));
  for (int i = 0; i < count; ++i) EXPECT(host[i] == 101 + i);
  DRIVER(cuMemFree(data));
  DRIVER(cuModuleUnload(module));
}

int main(int argc, char** argv) {
  DRIVER(cuInit(0));
  for (int i = 1; i < argc; ++i) {
    printf("%s\n", argv[i]);
    CUmodule module;
    const CUresult result = cuModuleLoad(&module, argv[i]);
    if (result != CUDA_SUCCESS) {
      printf("error %d\n", result);
      continue;
    }
    Use(module);
    // From memory, and through the linker.
    std::ifstream in(argv[i], std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    DRIVER(cuModuleLoadFatBinary(&module, bytes.data()));
    Use(module);
    CUlinkState state;
    void* image;
    DRIVER(cuLinkCreate(0, NULL, NULL, &state));
    DRIVER(cuLinkAddFile(state, CU_JIT_INPUT_FATBINARY, argv[i], 0, NULL, NULL));
    DRIVER(cuLinkComplete(state, &image, NULL));
    DRIVER(cuModuleLoadData(&module, image));
    DRIVER(cuLinkDestroy(state));
    Use(module);
  }
  return Finish();
}
