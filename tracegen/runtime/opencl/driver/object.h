// What all OpenCL objects share: the dispatch pointer of the ICD loader, a mark that tells valid handles from others,
// and two counts: the application's references, and owners (the application as one, and every Ref).
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_OBJECT_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_OBJECT_H_

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

namespace heddle::opencl {

// Values are unlikely to be found in other memory by chance.
enum class ObjectKind : uint32_t {
  kNone = 0,
  kPlatform = 0x48440001,
  kDevice = 0x48440002,
  kContext = 0x48440003,
  kQueue = 0x48440004,
  kMemory = 0x48440005,
  kSampler = 0x48440006,
  kProgram = 0x48440007,
  kKernel = 0x48440008,
  kEvent = 0x48440009,
};

// The driver's functions, as the loader calls them.
const cl_icd_dispatch* DispatchTable();

struct Object {
  explicit Object(ObjectKind object_kind) : dispatch(DispatchTable()), kind(object_kind) {}

  const cl_icd_dispatch* dispatch;      // first, where the loader expects it
  ObjectKind kind;                      // kNone once it is destroyed
  std::atomic<uint32_t> references{1};  // clRetain and clRelease
  std::atomic<uint32_t> owners{1};
};

// Keeps the memory of a destroyed object for a while, marked as such: a handle that is used after its release gives an
// error of OpenCL instead of a crash in most cases.
void MoveToQuarantine(void* memory);

template <typename T>
bool IsValid(const T* object) {
  return object != nullptr && object->kind == T::kKind;
}

// A new object with one reference, which the application gets.
template <typename T, typename... Arguments>
T* Make(Arguments&&... arguments) {
  return new (::operator new(sizeof(T))) T(std::forward<Arguments>(arguments)...);
}

template <typename T>
void DropOwner(T* object) {
  if (object->owners.fetch_sub(1) != 1) return;
  object->~T();
  MoveToQuarantine(object);
}

// clRetain...: `error` for a handle that is not valid.
template <typename T>
cl_int RetainObject(T* object, cl_int error) {
  if (!IsValid(object)) return error;
  if (object->references.fetch_add(1) == 0) object->owners.fetch_add(1);
  return CL_SUCCESS;
}

// clRelease...
template <typename T>
cl_int ReleaseObject(T* object, cl_int error) {
  if (!IsValid(object)) return error;
  uint32_t count = object->references.load();
  do {
    if (count == 0) return error;  // only the driver still owns it
  } while (!object->references.compare_exchange_weak(count, count - 1));
  if (count == 1) DropOwner(object);
  return CL_SUCCESS;
}

// Owns an object for the driver.
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) object_->owners.fetch_add(1);
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr) DropOwner(object_);
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

// For functions that return an object: sets *errcode_ret unless null, and returns null.
template <typename T>
T* Fail(cl_int error, cl_int* errcode_ret) {
  if (errcode_ret != nullptr) *errcode_ret = error;
  return nullptr;
}
template <typename T>
T* Succeed(T* object, cl_int* errcode_ret) {
  if (errcode_ret != nullptr) *errcode_ret = CL_SUCCESS;
  return object;
}

}  // namespace heddle::opencl

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_OBJECT_H_
