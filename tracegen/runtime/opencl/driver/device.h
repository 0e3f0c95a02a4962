// The one platform and its one device, and contexts.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_DEVICE_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_DEVICE_H_

#include <string>
#include <vector>

#include "tracegen/runtime/client/device_client.h"
#include "tracegen/runtime/opencl/driver/object.h"

struct _cl_platform_id : heddle::opencl::Object {
  static constexpr auto kKind = heddle::opencl::ObjectKind::kPlatform;
  _cl_platform_id() : Object(kKind) {}
};

struct _cl_device_id : heddle::opencl::Object {
  static constexpr auto kKind = heddle::opencl::ObjectKind::kDevice;
  _cl_device_id() : Object(kKind) {}
};

struct _cl_context : heddle::opencl::Object {
  static constexpr auto kKind = heddle::opencl::ObjectKind::kContext;
  _cl_context() : Object(kKind) {}

  std::vector<cl_context_properties> properties;  // as given, with the final 0
};

namespace heddle::opencl {

// Limits that the driver enforces, and shows by clGetDeviceInfo. They are those of compute capability 7.0 (CUDA C++
// Programming Guide, table of technical specifications), or what GPUs of that time show for OpenCL 1.2.
inline constexpr size_t kMaxGroupItems = 1024;
inline constexpr size_t kMaxItems[3] = {1024, 1024, 64};
inline constexpr uint64_t kMaxGroups[3] = {2147483647, 65535, 65535};
inline constexpr uint64_t kLocalBytes = 48 << 10;
inline constexpr size_t kWarpItems = 32;
inline constexpr size_t kMaxParameterBytes = 4352;
inline constexpr size_t kAddressAlignment = 512;  // bytes, of buffers and sub-buffers
inline constexpr size_t kMaxImageWidth = 16384;   // also height
inline constexpr size_t kMaxImageDepth = 2048;
inline constexpr size_t kMaxImageLayers = 2048;
inline constexpr size_t kMaxImageBufferTexels = size_t{1} << 27;
inline constexpr size_t kMaxSamplers = 32;

cl_platform_id Platform();
cl_device_id Device();

// A list of devices as functions take it: only our device is valid.
cl_int CheckDevices(cl_uint count, const cl_device_id* devices);

// The device process's limits, asked for once. An error of OpenCL if there is no device process.
cl_int DeviceLimits(const device::DeviceLimits** limits);

// Bytes that one allocation may have: a quarter of the device's memory.
uint64_t MaxAllocationBytes();

// The client, told where the device program is. Every use of the device process goes through here.
device::DeviceClient& Client();

// CL_SUCCESS, or what every call that has to do with the device returns once a kernel has failed or the device process
// has ended.
cl_int DeviceFault();

// What OpenCL calls an error of the device process. Its message is written to stderr, each text once: the error numbers
// of OpenCL cannot carry it.
cl_int ErrorCode(const device::Result& result);

}  // namespace heddle::opencl

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_DEVICE_H_
