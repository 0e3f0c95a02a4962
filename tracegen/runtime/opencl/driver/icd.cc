// What the ICD loader finds in the library: the two exported functions, and the table of all others.
#include <cstring>

#include "tracegen/runtime/opencl/driver/api.h"

namespace heddle::opencl {
namespace {

// What OpenCL 1.2 on this device does not have: sharing with graphics, sub-devices of extensions, OpenCL 2 and later.
// One of the two by what a function returns; the caller's arguments are left alone.
cl_int CL_API_CALL RefuseOperation() { return CL_INVALID_OPERATION; }
void* CL_API_CALL RefuseObject() { return nullptr; }

cl_icd_dispatch MakeTable() {
  cl_icd_dispatch table;
  static_assert(sizeof(table) % sizeof(void*) == 0);
  void* refusal = reinterpret_cast<void*>(RefuseOperation);
  for (size_t at = 0; at < sizeof(table); at += sizeof(void*)) {
    std::memcpy(reinterpret_cast<char*>(&table) + at, &refusal, sizeof(refusal));
  }
  void* no_object = reinterpret_cast<void*>(RefuseObject);
// NOLINTBEGIN(bugprone-bitwise-pointer-cast): functions of other types, which are never called with these arguments
#define HEDDLE_OBJECT(name) std::memcpy(&table.cl##name, &no_object, sizeof(no_object));
  HEDDLE_OBJECT(CreateFromGLBuffer)
  HEDDLE_OBJECT(CreateFromGLTexture)
  HEDDLE_OBJECT(CreateFromGLTexture2D)
  HEDDLE_OBJECT(CreateFromGLTexture3D)
  HEDDLE_OBJECT(CreateFromGLRenderbuffer)
  HEDDLE_OBJECT(CreateEventFromGLsyncKHR)
  HEDDLE_OBJECT(CreateFromEGLImageKHR)
  HEDDLE_OBJECT(CreateEventFromEGLSyncKHR)
  HEDDLE_OBJECT(CreatePipe)
  HEDDLE_OBJECT(SVMAlloc)
  HEDDLE_OBJECT(CreateProgramWithIL)
  HEDDLE_OBJECT(CreateBufferWithProperties)
  HEDDLE_OBJECT(CreateImageWithProperties)
  HEDDLE_OBJECT(CloneKernel)
#undef HEDDLE_OBJECT
// NOLINTEND(bugprone-bitwise-pointer-cast)
#define HEDDLE_ENTER(name) table.cl##name = name;
  HEDDLE_OPENCL_FUNCTIONS(HEDDLE_ENTER)
#undef HEDDLE_ENTER
  return table;
}

}  // namespace

const cl_icd_dispatch* DispatchTable() {
  static const cl_icd_dispatch table = MakeTable();
  return &table;
}

void* CL_API_CALL GetExtensionFunctionAddress(const char* name) {
  if (name == nullptr) return nullptr;
  if (std::strcmp(name, "clIcdGetPlatformIDsKHR") == 0) return reinterpret_cast<void*>(GetPlatformIDs);
  // The loader asks the driver for this one, and some programs ask for functions that are no extensions.
#define HEDDLE_NAME(function) \
  if (std::strcmp(name, "cl" #function) == 0) return reinterpret_cast<void*>(function);
  HEDDLE_OPENCL_FUNCTIONS(HEDDLE_NAME)
#undef HEDDLE_NAME
  return nullptr;
}

void* CL_API_CALL GetExtensionFunctionAddressForPlatform(cl_platform_id, const char* name) {
  return GetExtensionFunctionAddress(name);
}

}  // namespace heddle::opencl

#define HEDDLE_EXPORT extern "C" __attribute__((visibility("default")))

HEDDLE_EXPORT cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id* platforms, cl_uint* available) {
  return heddle::opencl::GetPlatformIDs(count, platforms, available);
}

HEDDLE_EXPORT void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  return heddle::opencl::GetExtensionFunctionAddress(name);
}

// ocl-icd asks the library itself for this one before it has a platform.
HEDDLE_EXPORT cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room,
                                                   void* value, size_t* needed) {
  return heddle::opencl::GetPlatformInfo(platform, what, room, value, needed);
}
