// Included by heddle-nvcc in the host pass of every source that is compiled with -rdc=true: puts the device code
// (HEDDLE_DEVICE_CODE, a file) into the object and registers it, together with clang's list of kernels and variables of
// the whole program or shared library.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_RELOCATABLE_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_RELOCATABLE_H_

#ifndef __CUDA_ARCH__
asm(".pushsection .heddle_device_code,\"a\",@progbits\n"
    ".balign 8\n"
    "heddle_device_code:\n"
    ".incbin \"" HEDDLE_DEVICE_CODE
    "\"\n"
    ".popsection\n");

extern "C" {
extern const char heddle_device_code __attribute__((visibility("hidden")));
extern const char __start_cuda_offloading_entries __attribute__((weak, visibility("hidden")));
extern const char __stop_cuda_offloading_entries __attribute__((weak, visibility("hidden")));
void __heddleRegisterRelocatable(const void* code, const void* first_entry, const void* last_entry);
}

__attribute__((constructor)) static void heddle_register_relocatable() {
  __heddleRegisterRelocatable(&heddle_device_code, &__start_cuda_offloading_entries, &__stop_cuda_offloading_entries);
}
#endif  // __CUDA_ARCH__

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_HEDDLE_CUDA_RELOCATABLE_H_
