// Buffers and what all memory objects have in common.
#include "tracegen/runtime/opencl/driver/memory.h"

#include <cstring>

#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/info.h"
#include "tracegen/runtime/opencl/driver/scheduler.h"

_cl_mem::~_cl_mem() {
  // In reverse order of their registration.
  for (auto callback = destructor_callbacks.rbegin(); callback != destructor_callbacks.rend(); ++callback) {
    callback->function(this, callback->user_data);
  }
  // Errors are of no use to anybody here; after a sticky one every call fails.
  if (descriptor != 0) (void)heddle::opencl::Client().Free(descriptor);
  if (owns_address) (void)heddle::opencl::Client().Free(address);
}

namespace heddle::opencl {
namespace {

constexpr cl_mem_flags kKernelAccess = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
constexpr cl_mem_flags kHostAccess = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags kHostPointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

bool AtMostOne(cl_mem_flags flags) { return (flags & (flags - 1)) == 0; }

cl_mem MakeSubBuffer(cl_mem parent, cl_mem_flags flags, const cl_buffer_region& region) {
  cl_mem memory = Make<_cl_mem>();
  memory->context = parent->context;
  memory->parent = Ref<_cl_mem>(parent);
  memory->flags = flags;
  if ((flags & kKernelAccess) == 0) memory->flags |= parent->flags & kKernelAccess;
  if ((flags & kHostAccess) == 0) memory->flags |= parent->flags & kHostAccess;
  memory->flags |= parent->flags & kHostPointer;
  memory->size = region.size;
  memory->origin = region.origin;
  memory->address = parent->address + region.origin;
  if (parent->host_pointer != nullptr) {
    memory->host_pointer = static_cast<char*>(parent->host_pointer) + region.origin;
  }
  return memory;
}

}  // namespace

cl_int CheckFlags(cl_mem_flags& flags, const void* host_ptr) {
  if ((flags & ~(kKernelAccess | kHostAccess | kHostPointer)) != 0 || !AtMostOne(flags & kKernelAccess) ||
      !AtMostOne(flags & kHostAccess) ||
      ((flags & CL_MEM_USE_HOST_PTR) != 0 && (flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0)) {
    return CL_INVALID_VALUE;
  }
  if ((host_ptr != nullptr) != ((flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0)) {
    return CL_INVALID_HOST_PTR;
  }
  if ((flags & kKernelAccess) == 0) flags |= CL_MEM_READ_WRITE;
  return CL_SUCCESS;
}

cl_int Allocate(cl_mem memory, size_t bytes, const char* name) {
  if (cl_int error = ErrorCode(Client().Allocate(bytes, name, &memory->address)); error != CL_SUCCESS) return error;
  memory->owns_address = true;
  return CL_SUCCESS;
}

void CopyBox(const Box& to, const Box& from, const Extent& extent) {
  for (size_t z = 0; z < extent.depth; ++z) {
    for (size_t y = 0; y < extent.height; ++y) {
      // Source and destination may be parts of the same memory.
      std::memmove(to.data + z * to.slice_pitch + y * to.row_pitch,
                   from.data + z * from.slice_pitch + y * from.row_pitch, extent.width);
    }
  }
}

void NoteTransfer(device::TransferDirection direction, const void* address, uint64_t bytes, cl_command_queue queue) {
  // A note that cannot be sent means that the device process is gone, which the next launch reports.
  (void)Client().NoteTransfer(direction, reinterpret_cast<uint64_t>(address), bytes,
                              queue != nullptr ? queue->number : 0);
}

cl_mem CL_API_CALL CreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host_ptr,
                                cl_int* errcode_ret) {
  if (!IsValid(context)) return Fail<_cl_mem>(CL_INVALID_CONTEXT, errcode_ret);
  // Checks of the size come last: a null pointer where there should be one is the likelier mistake.
  cl_int error = CheckFlags(flags, host_ptr);
  if (error == CL_SUCCESS && (size == 0 || size > MaxAllocationBytes())) error = CL_INVALID_BUFFER_SIZE;
  if (error != CL_SUCCESS) return Fail<_cl_mem>(error, errcode_ret);
  cl_mem memory = Make<_cl_mem>();
  memory->context = Ref<_cl_context>(context);
  memory->flags = flags;
  memory->size = size;
  error = Allocate(memory, size, "clCreateBuffer");
  if (error != CL_SUCCESS) {
    ReleaseObject(memory, CL_INVALID_MEM_OBJECT);
    return Fail<_cl_mem>(error, errcode_ret);
  }
  if (host_ptr != nullptr) {
    std::memcpy(memory->data(), host_ptr, size);
    NoteTransfer(device::TransferDirection::kHostToDevice, memory->data(), size, nullptr);
  }
  if ((flags & CL_MEM_USE_HOST_PTR) != 0) memory->host_pointer = host_ptr;
  return Succeed(memory, errcode_ret);
}

cl_mem CL_API_CALL CreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* info,
                                   cl_int* errcode_ret) {
  if (!IsValid(buffer) || !buffer->is_buffer() || buffer->parent) {
    return Fail<_cl_mem>(CL_INVALID_MEM_OBJECT, errcode_ret);
  }
  // What the application gives may only narrow what the buffer allows.
  const cl_mem_flags access = flags & kKernelAccess;
  const cl_mem_flags host = flags & kHostAccess;
  const bool widens =
      ((buffer->flags & CL_MEM_WRITE_ONLY) != 0 && (access & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) != 0) ||
      ((buffer->flags & CL_MEM_READ_ONLY) != 0 && (access & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) != 0) ||
      ((buffer->flags & CL_MEM_HOST_WRITE_ONLY) != 0 && (host & CL_MEM_HOST_READ_ONLY) != 0) ||
      ((buffer->flags & CL_MEM_HOST_READ_ONLY) != 0 && (host & CL_MEM_HOST_WRITE_ONLY) != 0) ||
      ((buffer->flags & CL_MEM_HOST_NO_ACCESS) != 0 && (host & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) != 0);
  if ((flags & ~(kKernelAccess | kHostAccess)) != 0 || !AtMostOne(access) || !AtMostOne(host) || widens ||
      type != CL_BUFFER_CREATE_TYPE_REGION || info == nullptr) {
    return Fail<_cl_mem>(CL_INVALID_VALUE, errcode_ret);
  }
  const auto& region = *static_cast<const cl_buffer_region*>(info);
  if (region.size == 0) return Fail<_cl_mem>(CL_INVALID_BUFFER_SIZE, errcode_ret);
  if (region.origin > buffer->size || region.size > buffer->size - region.origin) {
    return Fail<_cl_mem>(CL_INVALID_VALUE, errcode_ret);
  }
  if (region.origin % kAddressAlignment != 0) return Fail<_cl_mem>(CL_MISALIGNED_SUB_BUFFER_OFFSET, errcode_ret);
  return Succeed(MakeSubBuffer(buffer, flags, region), errcode_ret);
}

cl_int CL_API_CALL RetainMemObject(cl_mem memory) { return RetainObject(memory, CL_INVALID_MEM_OBJECT); }
cl_int CL_API_CALL ReleaseMemObject(cl_mem memory) { return ReleaseObject(memory, CL_INVALID_MEM_OBJECT); }

cl_int CL_API_CALL GetMemObjectInfo(cl_mem memory, cl_mem_info what, size_t room, void* value, size_t* needed) {
  if (!IsValid(memory)) return CL_INVALID_MEM_OBJECT;
  const Answer answer(room, value, needed);
  switch (what) {
    case CL_MEM_TYPE:
      return answer.Value<cl_mem_object_type>(memory->type);
    case CL_MEM_FLAGS:
      return answer.Value<cl_mem_flags>(memory->flags);
    case CL_MEM_SIZE:
      return answer.Value<size_t>(memory->size);
    case CL_MEM_HOST_PTR:
      return answer.Value<void*>(memory->host_pointer);
    case CL_MEM_MAP_COUNT: {
      std::lock_guard<std::mutex> lock(memory->mutex);
      return answer.Value<cl_uint>(static_cast<cl_uint>(memory->mappings.size()));
    }
    case CL_MEM_REFERENCE_COUNT:
      return answer.Value<cl_uint>(memory->references.load());
    case CL_MEM_CONTEXT:
      return answer.Value<cl_context>(memory->context.get());
    case CL_MEM_ASSOCIATED_MEMOBJECT:
      return answer.Value<cl_mem>(memory->parent.get());
    case CL_MEM_OFFSET:
      return answer.Value<size_t>(memory->origin);
    default:
      return CL_INVALID_VALUE;
  }
}

cl_int CL_API_CALL SetMemObjectDestructorCallback(cl_mem memory, void(CL_CALLBACK* function)(cl_mem, void*),
                                                  void* user_data) {
  if (!IsValid(memory)) return CL_INVALID_MEM_OBJECT;
  if (function == nullptr) return CL_INVALID_VALUE;
  std::lock_guard<std::mutex> lock(memory->mutex);
  memory->destructor_callbacks.push_back({function, user_data});
  return CL_SUCCESS;
}

}  // namespace heddle::opencl
