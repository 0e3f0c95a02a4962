// Programs and kernels.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_PROGRAM_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_PROGRAM_H_

#include <mutex>
#include <string>
#include <vector>

#include "tracegen/runtime/opencl/driver/device.h"
#include "tracegen/runtime/opencl/driver/image.h"
#include "tracegen/runtime/opencl/driver/memory.h"
#include "tracegen/runtime/opencl/driver/object.h"

struct _cl_program : heddle::opencl::Object {
  static constexpr auto kKind = heddle::opencl::ObjectKind::kProgram;
  _cl_program() : Object(kKind) {}
  ~_cl_program();

  heddle::opencl::Ref<_cl_context> context;
  std::string source;   // empty if made from a binary or by linking
  std::string bitcode;  // of the last build, compilation or link, or what the program was made from
  std::string options;  // of the last build
  std::string log;      // of the last build
  cl_build_status status = CL_BUILD_NONE;
  cl_program_binary_type binary_type = CL_PROGRAM_BINARY_TYPE_NONE;
  bool loaded = false;  // `module` can be launched from
  heddle::device::ModuleInfo module;
  std::atomic<uint32_t> kernels{0};  // that exist: a program with kernels cannot be built again
};

namespace heddle::opencl {

// A kernel's argument as it was set.
struct Argument {
  bool set = false;
  std::string bytes;    // of a scalar, structure
  Ref<_cl_mem> memory;  // null: a null pointer
  Ref<_cl_sampler> sampler;
  size_t local_bytes = 0;
};

}  // namespace heddle::opencl

struct _cl_kernel : heddle::opencl::Object {
  static constexpr auto kKind = heddle::opencl::ObjectKind::kKernel;
  _cl_kernel(cl_program of, size_t index);
  ~_cl_kernel();

  const heddle::device::KernelInfo& info() const { return program->module.kernels[kernel_index]; }

  heddle::opencl::Ref<_cl_program> program;
  size_t kernel_index;  // in the program's module
  std::mutex mutex;     // guards the arguments
  std::vector<heddle::opencl::Argument> arguments;
};

namespace heddle::opencl {

// Everything about a kernel, which is compiled for that if it has not been. An error if capture does not support it.
cl_int Describe(cl_kernel kernel, device::KernelInfo* info);

}  // namespace heddle::opencl

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_PROGRAM_H_
