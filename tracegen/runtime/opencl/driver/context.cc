// clCreateContext... and clGetContextInfo.
#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/device.h"
#include "tracegen/runtime/opencl/driver/info.h"

namespace heddle::opencl {
namespace {

// Reads a list of properties up to its 0. Errors as clCreateContext has them.
cl_int ReadProperties(const cl_context_properties* list, std::vector<cl_context_properties>& properties) {
  bool platform_seen = false;
  if (list == nullptr) return CL_SUCCESS;
  for (const cl_context_properties* at = list; *at != 0; at += 2) {
    properties.push_back(at[0]);
    properties.push_back(at[1]);
    if (at[0] == CL_CONTEXT_PLATFORM) {
      if (platform_seen) return CL_INVALID_PROPERTY;
      platform_seen = true;
      auto* platform = reinterpret_cast<cl_platform_id>(at[1]);
      if (platform != nullptr && platform != Platform()) return CL_INVALID_PLATFORM;
    } else if (at[0] != CL_CONTEXT_INTEROP_USER_SYNC) {
      return CL_INVALID_PROPERTY;
    }
  }
  properties.push_back(0);
  return CL_SUCCESS;
}

using Notify = void(CL_CALLBACK*)(const char*, const void*, size_t, void*);

cl_context MakeContext(const cl_context_properties* list, Notify notify, void* user_data, cl_int* errcode_ret) {
  if (notify == nullptr && user_data != nullptr) return Fail<_cl_context>(CL_INVALID_VALUE, errcode_ret);
  std::vector<cl_context_properties> properties;
  if (cl_int error = ReadProperties(list, properties); error != CL_SUCCESS) {
    return Fail<_cl_context>(error, errcode_ret);
  }
  // The first need for the device process: if it cannot start, programs hear of it here.
  if (cl_int error = ErrorCode(Client().Connect()); error != CL_SUCCESS) return Fail<_cl_context>(error, errcode_ret);
  cl_context context = Make<_cl_context>();
  context->properties = std::move(properties);
  return Succeed(context, errcode_ret);
}

}  // namespace

cl_context CL_API_CALL CreateContext(const cl_context_properties* properties, cl_uint count,
                                     const cl_device_id* devices, Notify notify, void* user_data, cl_int* errcode_ret) {
  if (count == 0 || devices == nullptr) return Fail<_cl_context>(CL_INVALID_VALUE, errcode_ret);
  if (cl_int error = CheckDevices(count, devices); error != CL_SUCCESS) return Fail<_cl_context>(error, errcode_ret);
  return MakeContext(properties, notify, user_data, errcode_ret);
}

cl_context CL_API_CALL CreateContextFromType(const cl_context_properties* properties, cl_device_type type,
                                             Notify notify, void* user_data, cl_int* errcode_ret) {
  cl_device_id device = nullptr;
  if (cl_int error = GetDeviceIDs(Platform(), type, 1, &device, nullptr); error != CL_SUCCESS) {
    return Fail<_cl_context>(error, errcode_ret);
  }
  return MakeContext(properties, notify, user_data, errcode_ret);
}

cl_int CL_API_CALL RetainContext(cl_context context) { return RetainObject(context, CL_INVALID_CONTEXT); }
cl_int CL_API_CALL ReleaseContext(cl_context context) { return ReleaseObject(context, CL_INVALID_CONTEXT); }

cl_int CL_API_CALL GetContextInfo(cl_context context, cl_context_info what, size_t room, void* value, size_t* needed) {
  if (!IsValid(context)) return CL_INVALID_CONTEXT;
  const Answer answer(room, value, needed);
  switch (what) {
    case CL_CONTEXT_REFERENCE_COUNT:
      return answer.Value<cl_uint>(context->references.load());
    case CL_CONTEXT_NUM_DEVICES:
      return answer.Value<cl_uint>(1);
    case CL_CONTEXT_DEVICES:
      return answer.Value<cl_device_id>(Device());
    case CL_CONTEXT_PROPERTIES:
      return answer.List(context->properties);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace heddle::opencl
