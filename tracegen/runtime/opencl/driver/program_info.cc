// clGetProgramInfo and clGetProgramBuildInfo.
#include <cstring>

#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/info.h"
#include "tracegen/runtime/opencl/driver/program.h"
#include "tracegen/runtime/opencl/driver/program_binary.h"

namespace heddle::opencl {
namespace {

std::string BinaryOf(cl_program program) {
  if (program->binary_type == CL_PROGRAM_BINARY_TYPE_NONE || program->bitcode.empty()) return "";
  return WriteBinary({program->binary_type, program->bitcode});
}

// `value` is a list of one pointer for each device, where the binary goes.
cl_int Binaries(cl_program program, size_t room, void* value, size_t* needed) {
  if (needed != nullptr) *needed = sizeof(unsigned char*);
  if (value == nullptr) return CL_SUCCESS;
  if (room < sizeof(unsigned char*)) return CL_INVALID_VALUE;
  unsigned char* to = *static_cast<unsigned char**>(value);
  const std::string binary = BinaryOf(program);
  if (to != nullptr && !binary.empty()) std::memcpy(to, binary.data(), binary.size());
  return CL_SUCCESS;
}

std::string KernelNames(cl_program program) {
  std::string names;
  for (const device::KernelInfo& kernel : program->module.kernels) {
    if (!names.empty()) names += ';';
    names += kernel.name;
  }
  return names;
}

}  // namespace

cl_int CL_API_CALL GetProgramInfo(cl_program program, cl_program_info what, size_t room, void* value, size_t* needed) {
  if (!IsValid(program)) return CL_INVALID_PROGRAM;
  const Answer answer(room, value, needed);
  switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT:
      return answer.Value<cl_uint>(program->references.load());
    case CL_PROGRAM_CONTEXT:
      return answer.Value<cl_context>(program->context.get());
    case CL_PROGRAM_NUM_DEVICES:
      return answer.Value<cl_uint>(1);
    case CL_PROGRAM_DEVICES:
      return answer.Value<cl_device_id>(Device());
    case CL_PROGRAM_SOURCE:
      return answer.Text(program->source);
    case CL_PROGRAM_BINARY_SIZES:
      return answer.Value<size_t>(BinaryOf(program).size());
    case CL_PROGRAM_BINARIES:
      return Binaries(program, room, value, needed);
    case CL_PROGRAM_NUM_KERNELS:
      return program->loaded ? answer.Value<size_t>(program->module.kernels.size()) : CL_INVALID_PROGRAM_EXECUTABLE;
    case CL_PROGRAM_KERNEL_NAMES:
      return program->loaded ? answer.Text(KernelNames(program)) : CL_INVALID_PROGRAM_EXECUTABLE;
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL GetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t room,
                                       void* value, size_t* needed) {
  if (!IsValid(program)) return CL_INVALID_PROGRAM;
  if (device != Device()) return CL_INVALID_DEVICE;
  const Answer answer(room, value, needed);
  switch (what) {
    case CL_PROGRAM_BUILD_STATUS:
      return answer.Value<cl_build_status>(program->status);
    case CL_PROGRAM_BUILD_OPTIONS:
      return answer.Text(program->options);
    case CL_PROGRAM_BUILD_LOG:
      return answer.Text(program->log);
    case CL_PROGRAM_BINARY_TYPE:
      return answer.Value<cl_program_binary_type>(program->binary_type);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace heddle::opencl
