// What clGetProgramInfo hands out as a program's binary: a mark, the kind of the binary, LLVM bitcode.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_PROGRAM_BINARY_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_PROGRAM_BINARY_H_

#include <cstring>
#include <string>
#include <string_view>

#include "tracegen/runtime/opencl/driver/object.h"

namespace heddle::opencl {

struct ProgramBinary {
  cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
  std::string_view bitcode;
};

inline constexpr std::string_view kBinaryMark = "HeddleOpenCL1.2\n";

inline std::string WriteBinary(const ProgramBinary& binary) {
  std::string bytes(kBinaryMark);
  bytes.append(reinterpret_cast<const char*>(&binary.type), sizeof(binary.type));
  bytes.append(binary.bitcode);
  return bytes;
}

// False if these bytes are none. Whether the bitcode is sound shows when it is built.
inline bool ReadBinary(std::string_view bytes, ProgramBinary* binary) {
  if (bytes.substr(0, kBinaryMark.size()) != kBinaryMark) return false;
  bytes.remove_prefix(kBinaryMark.size());
  if (bytes.size() < sizeof(binary->type)) return false;
  std::memcpy(&binary->type, bytes.data(), sizeof(binary->type));
  binary->bitcode = bytes.substr(sizeof(binary->type));
  return binary->type >= CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT && binary->type <= CL_PROGRAM_BINARY_TYPE_EXECUTABLE &&
         binary->bitcode.substr(0, 2) == "BC";
}

}  // namespace heddle::opencl

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_PROGRAM_BINARY_H_
