// How device code lies in an object file: what heddle-nvcc embeds and the runtime reads.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_DEVICE_CODE_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_DEVICE_CODE_H_

#include <cstdint>

namespace heddle::cuda {

// First bytes of embedded device code; then `text_bytes` of "key=value" lines, then `bitcode_bytes` of LLVM bitcode, or
// of what `kind` says. Keys: name (source file), kind (left out: bitcode), target (such as sm_70), optimization (as
// clang got it), max_registers, most_capability (of PTX in a fat binary, such as 75), cuda_version (such as 12040),
// device_program (path of heddle-capture).
struct DeviceCodeHeader {
  char magic[8];
  uint64_t text_bytes;
  uint64_t bitcode_bytes;
};
inline constexpr char kDeviceCodeMagic[] = "HEDDLEDC";  // 8 bytes without the end

// Values of `kind`.
inline constexpr char kPtxPart[] = "ptx";
inline constexpr char kFatBinaryPart[] = "fatbin";

// First bytes of what cuLinkComplete makes; then the number of parts (uint64_t), and each part as above behind its size
// (uint64_t).
inline constexpr char kLinkedCodeMagic[] = "HEDDLEDL";

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_DEVICE_CODE_H_
