// clGetKernelInfo, clGetKernelArgInfo, clGetKernelWorkGroupInfo.
#include <algorithm>

#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/info.h"
#include "tracegen/runtime/opencl/driver/launch.h"
#include "tracegen/runtime/opencl/driver/program.h"

namespace heddle::opencl {
namespace {

cl_kernel_arg_address_qualifier AddressQualifier(uint32_t space) {
  switch (space) {
    case 1:
      return CL_KERNEL_ARG_ADDRESS_GLOBAL;
    case 2:
      return CL_KERNEL_ARG_ADDRESS_CONSTANT;
    case 3:
      return CL_KERNEL_ARG_ADDRESS_LOCAL;
    default:
      return CL_KERNEL_ARG_ADDRESS_PRIVATE;
  }
}

cl_kernel_arg_access_qualifier AccessQualifier(const std::string& text) {
  if (text == "read_only") return CL_KERNEL_ARG_ACCESS_READ_ONLY;
  if (text == "write_only") return CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
  if (text == "read_write") return CL_KERNEL_ARG_ACCESS_READ_WRITE;
  return CL_KERNEL_ARG_ACCESS_NONE;
}

cl_kernel_arg_type_qualifier TypeQualifiers(const std::string& text) {
  cl_kernel_arg_type_qualifier qualifiers = CL_KERNEL_ARG_TYPE_NONE;
  if (text.find("const") != std::string::npos) qualifiers |= CL_KERNEL_ARG_TYPE_CONST;
  if (text.find("restrict") != std::string::npos) qualifiers |= CL_KERNEL_ARG_TYPE_RESTRICT;
  if (text.find("volatile") != std::string::npos) qualifiers |= CL_KERNEL_ARG_TYPE_VOLATILE;
  return qualifiers;
}

}  // namespace

cl_int CL_API_CALL GetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t room, void* value, size_t* needed) {
  if (!IsValid(kernel)) return CL_INVALID_KERNEL;
  const Answer answer(room, value, needed);
  switch (what) {
    case CL_KERNEL_FUNCTION_NAME:
      return answer.Text(kernel->info().name);
    case CL_KERNEL_NUM_ARGS:
      return answer.Value<cl_uint>(static_cast<cl_uint>(kernel->arguments.size()));
    case CL_KERNEL_REFERENCE_COUNT:
      return answer.Value<cl_uint>(kernel->references.load());
    case CL_KERNEL_CONTEXT:
      return answer.Value<cl_context>(kernel->program->context.get());
    case CL_KERNEL_PROGRAM:
      return answer.Value<cl_program>(kernel->program.get());
    case CL_KERNEL_ATTRIBUTES:
      return answer.Text(kernel->info().attributes);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL GetKernelArgInfo(cl_kernel kernel, cl_uint index, cl_kernel_arg_info what, size_t room, void* value,
                                    size_t* needed) {
  if (!IsValid(kernel)) return CL_INVALID_KERNEL;
  if (index >= kernel->arguments.size()) return CL_INVALID_ARG_INDEX;
  const device::ParameterInfo& parameter = kernel->info().parameters[index];
  const Answer answer(room, value, needed);
  switch (what) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
      return answer.Value<cl_kernel_arg_address_qualifier>(AddressQualifier(parameter.address_space));
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
      return answer.Value<cl_kernel_arg_access_qualifier>(AccessQualifier(parameter.access_qualifier));
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
      return answer.Value<cl_kernel_arg_type_qualifier>(TypeQualifiers(parameter.type_qualifiers));
    case CL_KERNEL_ARG_TYPE_NAME:
      return parameter.type_name.empty() ? CL_KERNEL_ARG_INFO_NOT_AVAILABLE : answer.Text(parameter.type_name);
    case CL_KERNEL_ARG_NAME:
      return parameter.name.empty() ? CL_KERNEL_ARG_INFO_NOT_AVAILABLE : answer.Text(parameter.name);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL GetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                          size_t room, void* value, size_t* needed) {
  if (!IsValid(kernel)) return CL_INVALID_KERNEL;
  if (device != nullptr && device != Device()) return CL_INVALID_DEVICE;
  const Answer answer(room, value, needed);
  device::KernelInfo info = kernel->info();
  switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE:
      if (cl_int error = Describe(kernel, &info); error != CL_SUCCESS) return error;
      return answer.Value<size_t>(MaxGroupItems(info));
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: {
      const size_t size[3] = {info.required_block[0], info.required_block[1], info.required_block[2]};
      return answer.Bytes(size, sizeof(size));
    }
    case CL_KERNEL_LOCAL_MEM_SIZE: {
      if (cl_int error = Describe(kernel, &info); error != CL_SUCCESS) return error;
      std::lock_guard<std::mutex> lock(kernel->mutex);
      cl_ulong bytes = info.static_shared_bytes;
      for (const Argument& argument : kernel->arguments) bytes += argument.local_bytes;
      return answer.Value<cl_ulong>(bytes);
    }
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
      return answer.Value<size_t>(kWarpItems);
    case CL_KERNEL_PRIVATE_MEM_SIZE:
      if (cl_int error = Describe(kernel, &info); error != CL_SUCCESS) return error;
      return answer.Value<cl_ulong>(info.local_bytes);
    default:
      return CL_INVALID_VALUE;  // also CL_KERNEL_GLOBAL_WORK_SIZE: for built-in kernels only
  }
}

}  // namespace heddle::opencl
