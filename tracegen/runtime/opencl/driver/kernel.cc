// Kernels and their arguments.
#include <algorithm>

#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/program.h"

_cl_kernel::_cl_kernel(cl_program of, size_t index) : Object(kKind), program(of), kernel_index(index) {
  program->kernels.fetch_add(1);
  arguments.resize(info().parameters.size());
}

_cl_kernel::~_cl_kernel() { program->kernels.fetch_sub(1); }

namespace heddle::opencl {
namespace {

using device::ParameterKind;

// A pointer into global or constant memory: a buffer, or null.
cl_int SetPointer(Argument& argument, size_t bytes, const void* value, bool image) {
  if (bytes != sizeof(cl_mem)) return CL_INVALID_ARG_SIZE;
  const cl_mem memory = value != nullptr ? *static_cast<const cl_mem*>(value) : nullptr;
  if (memory == nullptr && image) return CL_INVALID_MEM_OBJECT;
  if (memory != nullptr && (!IsValid(memory) || memory->is_buffer() == image)) return CL_INVALID_MEM_OBJECT;
  argument.memory = Ref<_cl_mem>(memory);
  return CL_SUCCESS;
}

cl_int SetArgument(const device::ParameterInfo& parameter, size_t bytes, const void* value, Argument& argument) {
  switch (parameter.kind) {
    case ParameterKind::kGlobalPointer:
    case ParameterKind::kConstantPointer:
      return SetPointer(argument, bytes, value, false);
    case ParameterKind::kImage:
      return value == nullptr ? CL_INVALID_ARG_VALUE : SetPointer(argument, bytes, value, true);
    case ParameterKind::kSharedPointer:
      if (value != nullptr) return CL_INVALID_ARG_VALUE;
      if (bytes == 0) return CL_INVALID_ARG_SIZE;
      argument.local_bytes = bytes;
      return CL_SUCCESS;
    case ParameterKind::kSampler: {
      if (value == nullptr) return CL_INVALID_ARG_VALUE;
      if (bytes != sizeof(cl_sampler)) return CL_INVALID_ARG_SIZE;
      const cl_sampler sampler = *static_cast<const cl_sampler*>(value);
      if (!IsValid(sampler)) return CL_INVALID_SAMPLER;
      argument.sampler = Ref<_cl_sampler>(sampler);
      return CL_SUCCESS;
    }
    case ParameterKind::kScalar:
    case ParameterKind::kByValue:
      if (value == nullptr) return CL_INVALID_ARG_VALUE;
      if (bytes != parameter.bytes) return CL_INVALID_ARG_SIZE;
      argument.bytes.assign(static_cast<const char*>(value), bytes);
      return CL_SUCCESS;
  }
  return CL_INVALID_ARG_VALUE;
}

}  // namespace

cl_int Describe(cl_kernel kernel, device::KernelInfo* info) {
  return ErrorCode(Client().DescribeKernel(kernel->program->module.id, kernel->info().name, info));
}

cl_kernel CL_API_CALL CreateKernel(cl_program program, const char* name, cl_int* errcode_ret) {
  if (!IsValid(program)) return Fail<_cl_kernel>(CL_INVALID_PROGRAM, errcode_ret);
  if (name == nullptr) return Fail<_cl_kernel>(CL_INVALID_VALUE, errcode_ret);
  if (!program->loaded) return Fail<_cl_kernel>(CL_INVALID_PROGRAM_EXECUTABLE, errcode_ret);
  const std::vector<device::KernelInfo>& kernels = program->module.kernels;
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const device::KernelInfo& kernel) { return kernel.name == name; });
  if (found == kernels.end()) return Fail<_cl_kernel>(CL_INVALID_KERNEL_NAME, errcode_ret);
  return Succeed(Make<_cl_kernel>(program, static_cast<size_t>(found - kernels.begin())), errcode_ret);
}

cl_int CL_API_CALL CreateKernelsInProgram(cl_program program, cl_uint count, cl_kernel* kernels, cl_uint* available) {
  if (!IsValid(program)) return CL_INVALID_PROGRAM;
  if (!program->loaded) return CL_INVALID_PROGRAM_EXECUTABLE;
  const size_t all = program->module.kernels.size();
  if (kernels != nullptr && count < all) return CL_INVALID_VALUE;
  for (size_t i = 0; kernels != nullptr && i < all; ++i) kernels[i] = Make<_cl_kernel>(program, i);
  if (available != nullptr) *available = static_cast<cl_uint>(all);
  return CL_SUCCESS;
}

cl_int CL_API_CALL RetainKernel(cl_kernel kernel) { return RetainObject(kernel, CL_INVALID_KERNEL); }
cl_int CL_API_CALL ReleaseKernel(cl_kernel kernel) { return ReleaseObject(kernel, CL_INVALID_KERNEL); }

cl_int CL_API_CALL SetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void* value) {
  if (!IsValid(kernel)) return CL_INVALID_KERNEL;
  if (index >= kernel->arguments.size()) return CL_INVALID_ARG_INDEX;
  Argument argument;
  if (cl_int error = SetArgument(kernel->info().parameters[index], bytes, value, argument); error != CL_SUCCESS) {
    return error;
  }
  argument.set = true;
  std::lock_guard<std::mutex> lock(kernel->mutex);
  std::swap(kernel->arguments[index], argument);
  return CL_SUCCESS;
}

}  // namespace heddle::opencl
