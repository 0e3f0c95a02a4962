// Memory objects: buffers, sub-buffers, images.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_MEMORY_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_MEMORY_H_

#include <cstdint>
#include <mutex>
#include <vector>

#include "tracegen/runtime/opencl/driver/device.h"
#include "tracegen/runtime/opencl/driver/object.h"
#include "tracegen/runtime/protocol/device_image.h"

namespace heddle::opencl {

// A box of bytes in memory: rows of `width` bytes, from one row and slice to the next by the pitches.
struct Box {
  char* data = nullptr;  // first byte of the box
  size_t row_pitch = 0;
  size_t slice_pitch = 0;
};
struct Extent {
  size_t width = 0;  // bytes
  size_t height = 1;
  size_t depth = 1;
  size_t bytes() const { return width * height * depth; }
};

// What clEnqueueMap... has handed out.
struct Mapping {
  void* pointer = nullptr;
  bool writes = false;
  Box device;
  Box host;  // where the application sees it; the same as `device` unless the object lies over host memory
  Extent extent;
};

struct DestructorCallback {
  void(CL_CALLBACK* function)(cl_mem, void*);
  void* user_data;
};

}  // namespace heddle::opencl

struct _cl_mem : heddle::opencl::Object {
  static constexpr auto kKind = heddle::opencl::ObjectKind::kMemory;
  _cl_mem() : Object(kKind) {}
  ~_cl_mem();

  char* data() const { return reinterpret_cast<char*>(address); }
  bool is_buffer() const { return type == CL_MEM_OBJECT_BUFFER; }

  heddle::opencl::Ref<_cl_context> context;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl_mem_flags flags = 0;
  size_t size = 0;               // bytes
  void* host_pointer = nullptr;  // CL_MEM_USE_HOST_PTR
  uint64_t address = 0;          // in device memory
  bool owns_address = false;
  heddle::opencl::Ref<_cl_mem> parent;  // of a sub-buffer, or the buffer that an image shows
  size_t origin = 0;                    // of a sub-buffer

  // Images. Pitches of host memory are as the application gave them.
  cl_image_format format = {};
  cl_image_desc description = {};
  HeddleImage layout = {};
  uint64_t descriptor = 0;  // address of `layout` in device memory, what kernels get
  size_t host_row_pitch = 0, host_slice_pitch = 0;

  std::mutex mutex;  // guards the two below
  std::vector<heddle::opencl::Mapping> mappings;
  std::vector<heddle::opencl::DestructorCallback> destructor_callbacks;
};

namespace heddle::opencl {

// Checks flags and host_ptr together, and fills in what flags mean if left out. CL_INVALID_VALUE, CL_INVALID_HOST_PTR.
cl_int CheckFlags(cl_mem_flags& flags, const void* host_ptr);

// A new memory object with device memory of its own. `name` is shown in the trace.
cl_int Allocate(cl_mem memory, size_t bytes, const char* name);

// What CL_MEM_HOST_... flags let clEnqueue... functions do.
inline bool HostMayRead(cl_mem memory) {
  return (memory->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0;
}
inline bool HostMayWrite(cl_mem memory) {
  return (memory->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) == 0;
}

void CopyBox(const Box& to, const Box& from, const Extent& extent);

// Tells the trace about a transfer.
void NoteTransfer(device::TransferDirection direction, const void* address, uint64_t bytes, cl_command_queue queue);

}  // namespace heddle::opencl

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_MEMORY_H_
