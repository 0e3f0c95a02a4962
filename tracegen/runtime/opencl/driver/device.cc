#include "tracegen/runtime/opencl/driver/device.h"

#include <dlfcn.h>

#include <cstdio>
#include <mutex>
#include <set>

namespace heddle::opencl {

cl_platform_id Platform() {
  static cl_platform_id platform = Make<_cl_platform_id>();
  return platform;
}

cl_device_id Device() {
  static cl_device_id device = Make<_cl_device_id>();
  return device;
}

cl_int CheckDevices(cl_uint count, const cl_device_id* devices) {
  if ((count == 0) != (devices == nullptr)) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    if (devices[i] != Device()) return CL_INVALID_DEVICE;
  }
  return CL_SUCCESS;
}

device::DeviceClient& Client() {
  static device::DeviceClient& client = [&]() -> device::DeviceClient& {
    device::DeviceClient& made = device::DeviceClient::Get();
    // Installed in PREFIX/lib (or below), with the program in PREFIX/bin; in a build folder both are side by side.
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(&Client), &info) != 0 && info.dli_fname != nullptr) {
      const std::string library = info.dli_fname;
      const size_t slash = library.rfind('/');
      const std::string folder = slash == std::string::npos ? "." : library.substr(0, slash);
      for (const char* place : {"", "/../bin", "/../../bin", "/../../../bin"}) {
        made.AddDeviceProgram(folder + place + "/heddle-capture");
      }
    }
    return made;
  }();
  return client;
}

cl_int DeviceFault() { return ErrorCode(Client().StickyError()); }

cl_int ErrorCode(const device::Result& result) {
  using device::Error;
  if (result.ok()) return CL_SUCCESS;
  static std::mutex mutex;
  static auto& shown = *new std::set<std::string>;
  {
    std::lock_guard<std::mutex> lock(mutex);
    // A build's messages are in its log.
    if (result.error != Error::kBuildFailure && shown.insert(result.message).second) {
      std::fprintf(stderr, "heddle: %s\n", result.message.c_str());
    }
  }
  switch (result.error) {
    case Error::kOk:
      return CL_SUCCESS;
    case Error::kNoDevice:
      return CL_DEVICE_NOT_AVAILABLE;
    case Error::kInvalidValue:
      return CL_INVALID_VALUE;
    case Error::kOutOfMemory:
      return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    case Error::kBuildFailure:
      return CL_BUILD_PROGRAM_FAILURE;
    case Error::kUnknownKernel:
      return CL_INVALID_KERNEL_NAME;
    case Error::kInvalidLaunch:
    case Error::kKernelFault:  // what GPU drivers return after a fault
      return CL_OUT_OF_RESOURCES;
    case Error::kUnsupported:
      return CL_INVALID_OPERATION;
    case Error::kDisconnected:
      return CL_DEVICE_NOT_AVAILABLE;
    case Error::kNoCode:  // of fat binaries, which OpenCL does not have
      return CL_INVALID_BINARY;
  }
  return CL_OUT_OF_RESOURCES;
}

cl_int DeviceLimits(const device::DeviceLimits** limits) {
  static std::mutex mutex;
  static device::DeviceLimits known;
  static bool asked = false;
  std::lock_guard<std::mutex> lock(mutex);
  if (!asked) {
    if (cl_int error = ErrorCode(Client().Limits(&known)); error != CL_SUCCESS) return error;
    asked = true;
  }
  *limits = &known;
  return CL_SUCCESS;
}

uint64_t MaxAllocationBytes() {
  const device::DeviceLimits* limits = nullptr;
  return DeviceLimits(&limits) == CL_SUCCESS ? limits->total_bytes / 4 : 0;
}

}  // namespace heddle::opencl
