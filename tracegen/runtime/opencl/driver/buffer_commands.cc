// Reading, writing, copying and filling buffers.
#include <cstring>
#include <vector>

#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/memory.h"
#include "tracegen/runtime/opencl/driver/scheduler.h"

namespace heddle::opencl {
namespace {

using device::TransferDirection;

// A buffer that belongs to the queue's context.
cl_int CheckBuffer(cl_command_queue queue, cl_mem buffer) {
  if (!IsValid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!IsValid(buffer) || !buffer->is_buffer()) return CL_INVALID_MEM_OBJECT;
  if (buffer->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  return CL_SUCCESS;
}

bool Contains(cl_mem buffer, size_t offset, size_t bytes) {
  return offset <= buffer->size && bytes <= buffer->size - offset;
}

// A box within a buffer or within host memory, as the rectangle functions describe it.
struct Rectangle {
  size_t offset = 0;
  size_t row_pitch = 0;
  size_t slice_pitch = 0;
  size_t end = 0;  // one past the last byte
};

// CL_INVALID_VALUE if pitches do not fit the region.
cl_int ReadRectangle(const size_t* origin, const size_t* region, size_t row_pitch, size_t slice_pitch,
                     Rectangle& rectangle) {
  if (origin == nullptr || region == nullptr || region[0] == 0 || region[1] == 0 || region[2] == 0) {
    return CL_INVALID_VALUE;
  }
  if (row_pitch == 0) row_pitch = region[0];
  if (row_pitch < region[0]) return CL_INVALID_VALUE;
  if (slice_pitch == 0) slice_pitch = region[1] * row_pitch;
  if (slice_pitch < region[1] * row_pitch || slice_pitch % row_pitch != 0) return CL_INVALID_VALUE;
  rectangle.row_pitch = row_pitch;
  rectangle.slice_pitch = slice_pitch;
  rectangle.offset = origin[2] * slice_pitch + origin[1] * row_pitch + origin[0];
  rectangle.end = rectangle.offset + (region[2] - 1) * slice_pitch + (region[1] - 1) * row_pitch + region[0];
  return CL_SUCCESS;
}

Box BoxAt(void* base, const Rectangle& rectangle) {
  return {static_cast<char*>(base) + rectangle.offset, rectangle.row_pitch, rectangle.slice_pitch};
}

// A copy between the host and a buffer, or between buffers: `noted` is the end in device memory that the trace shows.
Work CopyWork(const Ref<_cl_mem>& buffer, const Ref<_cl_mem>& other, const Box& to, const Box& from,
              const Extent& extent, TransferDirection direction, cl_command_queue queue) {
  return [=, kept = buffer, kept_too = other](const LaunchOrder&) {
    CopyBox(to, from, extent);
    const bool with_host = direction != TransferDirection::kDeviceToDevice;
    NoteTransfer(direction, direction == TransferDirection::kDeviceToHost ? from.data : to.data, extent.bytes(), queue);
    return Outcome{CL_SUCCESS, TransferTime(extent.bytes(), with_host)};
  };
}

cl_int HostRectangle(cl_command_queue queue, cl_mem buffer, bool read, cl_bool blocking, const size_t* buffer_origin,
                     const size_t* host_origin, const size_t* region, size_t buffer_row_pitch,
                     size_t buffer_slice_pitch, size_t host_row_pitch, size_t host_slice_pitch, void* pointer,
                     const WaitList& waits, cl_event* event) {
  if (cl_int error = CheckBuffer(queue, buffer); error != CL_SUCCESS) return error;
  Rectangle device, host;
  cl_int error = ReadRectangle(buffer_origin, region, buffer_row_pitch, buffer_slice_pitch, device);
  if (error == CL_SUCCESS) error = ReadRectangle(host_origin, region, host_row_pitch, host_slice_pitch, host);
  if (error != CL_SUCCESS) return error;
  if (pointer == nullptr || device.end > buffer->size) return CL_INVALID_VALUE;
  if (!(read ? HostMayRead(buffer) : HostMayWrite(buffer))) return CL_INVALID_OPERATION;
  const Box on_device = BoxAt(buffer->data(), device), on_host = BoxAt(pointer, host);
  const Extent extent = {region[0], region[1], region[2]};
  Work work = CopyWork(Ref<_cl_mem>(buffer), {}, read ? on_host : on_device, read ? on_device : on_host, extent,
                       read ? TransferDirection::kDeviceToHost : TransferDirection::kHostToDevice, queue);
  return Scheduler::Get().Submit(queue, read ? CL_COMMAND_READ_BUFFER_RECT : CL_COMMAND_WRITE_BUFFER_RECT, waits,
                                 std::move(work), event, blocking != CL_FALSE);
}

bool Overlap(size_t a, size_t a_end, size_t b, size_t b_end) { return a < b_end && b < a_end; }

// Whether two boxes of one buffer have a byte in common. Exact where the pitches are the same, else by their spans.
bool BoxesOverlap(const Rectangle& a, const Rectangle& b, const size_t* a_origin, const size_t* b_origin,
                  const size_t* region) {
  if (!Overlap(a.offset, a.end, b.offset, b.end)) return false;
  if (a.row_pitch != b.row_pitch || a.slice_pitch != b.slice_pitch) return true;
  for (int i = 0; i < 3; ++i) {
    if (!Overlap(a_origin[i], a_origin[i] + region[i], b_origin[i], b_origin[i] + region[i])) return false;
  }
  return true;
}

}  // namespace

cl_int CL_API_CALL EnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                     size_t bytes, void* pointer, cl_uint count, const cl_event* events,
                                     cl_event* event) {
  if (cl_int error = CheckBuffer(queue, buffer); error != CL_SUCCESS) return error;
  if (pointer == nullptr || bytes == 0 || !Contains(buffer, offset, bytes)) return CL_INVALID_VALUE;
  if (!HostMayRead(buffer)) return CL_INVALID_OPERATION;
  Work work = CopyWork(Ref<_cl_mem>(buffer), {}, {static_cast<char*>(pointer), 0, 0}, {buffer->data() + offset, 0, 0},
                       {bytes, 1, 1}, TransferDirection::kDeviceToHost, queue);
  return Scheduler::Get().Submit(queue, CL_COMMAND_READ_BUFFER, {count, events}, std::move(work), event,
                                 blocking != CL_FALSE);
}

cl_int CL_API_CALL EnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                      size_t bytes, const void* pointer, cl_uint count, const cl_event* events,
                                      cl_event* event) {
  if (cl_int error = CheckBuffer(queue, buffer); error != CL_SUCCESS) return error;
  if (pointer == nullptr || bytes == 0 || !Contains(buffer, offset, bytes)) return CL_INVALID_VALUE;
  if (!HostMayWrite(buffer)) return CL_INVALID_OPERATION;
  char* from = const_cast<char*>(static_cast<const char*>(pointer));
  Work work = CopyWork(Ref<_cl_mem>(buffer), {}, {buffer->data() + offset, 0, 0}, {from, 0, 0}, {bytes, 1, 1},
                       TransferDirection::kHostToDevice, queue);
  return Scheduler::Get().Submit(queue, CL_COMMAND_WRITE_BUFFER, {count, events}, std::move(work), event,
                                 blocking != CL_FALSE);
}

cl_int CL_API_CALL EnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                     size_t to_offset, size_t bytes, cl_uint count, const cl_event* events,
                                     cl_event* event) {
  cl_int error = CheckBuffer(queue, from);
  if (error == CL_SUCCESS) error = CheckBuffer(queue, to);
  if (error != CL_SUCCESS) return error;
  if (bytes == 0 || !Contains(from, from_offset, bytes) || !Contains(to, to_offset, bytes)) return CL_INVALID_VALUE;
  const uint64_t source = from->address + from_offset, destination = to->address + to_offset;
  if (Overlap(source, source + bytes, destination, destination + bytes)) return CL_MEM_COPY_OVERLAP;
  Work work = CopyWork(Ref<_cl_mem>(from), Ref<_cl_mem>(to), {to->data() + to_offset, 0, 0},
                       {from->data() + from_offset, 0, 0}, {bytes, 1, 1}, TransferDirection::kDeviceToDevice, queue);
  return Scheduler::Get().Submit(queue, CL_COMMAND_COPY_BUFFER, {count, events}, std::move(work), event);
}

cl_int CL_API_CALL EnqueueReadBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                         const size_t* buffer_origin, const size_t* host_origin, const size_t* region,
                                         size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
                                         size_t host_slice_pitch, void* pointer, cl_uint count, const cl_event* events,
                                         cl_event* event) {
  return HostRectangle(queue, buffer, true, blocking, buffer_origin, host_origin, region, buffer_row_pitch,
                       buffer_slice_pitch, host_row_pitch, host_slice_pitch, pointer, {count, events}, event);
}

cl_int CL_API_CALL EnqueueWriteBufferRect(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                          const size_t* buffer_origin, const size_t* host_origin, const size_t* region,
                                          size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
                                          size_t host_slice_pitch, const void* pointer, cl_uint count,
                                          const cl_event* events, cl_event* event) {
  return HostRectangle(queue, buffer, false, blocking, buffer_origin, host_origin, region, buffer_row_pitch,
                       buffer_slice_pitch, host_row_pitch, host_slice_pitch, const_cast<void*>(pointer),
                       {count, events}, event);
}

cl_int CL_API_CALL EnqueueCopyBufferRect(cl_command_queue queue, cl_mem from, cl_mem to, const size_t* from_origin,
                                         const size_t* to_origin, const size_t* region, size_t from_row_pitch,
                                         size_t from_slice_pitch, size_t to_row_pitch, size_t to_slice_pitch,
                                         cl_uint count, const cl_event* events, cl_event* event) {
  cl_int error = CheckBuffer(queue, from);
  if (error == CL_SUCCESS) error = CheckBuffer(queue, to);
  Rectangle source, destination;
  if (error == CL_SUCCESS) error = ReadRectangle(from_origin, region, from_row_pitch, from_slice_pitch, source);
  if (error == CL_SUCCESS) error = ReadRectangle(to_origin, region, to_row_pitch, to_slice_pitch, destination);
  if (error != CL_SUCCESS) return error;
  if (source.end > from->size || destination.end > to->size) return CL_INVALID_VALUE;
  if (from == to) {
    if (source.row_pitch != destination.row_pitch || source.slice_pitch != destination.slice_pitch) {
      return CL_INVALID_VALUE;
    }
    if (BoxesOverlap(source, destination, from_origin, to_origin, region)) return CL_MEM_COPY_OVERLAP;
  }
  Work work =
      CopyWork(Ref<_cl_mem>(from), Ref<_cl_mem>(to), BoxAt(to->data(), destination), BoxAt(from->data(), source),
               {region[0], region[1], region[2]}, TransferDirection::kDeviceToDevice, queue);
  return Scheduler::Get().Submit(queue, CL_COMMAND_COPY_BUFFER_RECT, {count, events}, std::move(work), event);
}

cl_int CL_API_CALL EnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void* pattern, size_t pattern_bytes,
                                     size_t offset, size_t bytes, cl_uint count, const cl_event* events,
                                     cl_event* event) {
  if (cl_int error = CheckBuffer(queue, buffer); error != CL_SUCCESS) return error;
  const bool power_of_two = pattern_bytes != 0 && (pattern_bytes & (pattern_bytes - 1)) == 0;
  if (pattern == nullptr || !power_of_two || pattern_bytes > 128 || offset % pattern_bytes != 0 ||
      bytes % pattern_bytes != 0 || !Contains(buffer, offset, bytes)) {
    return CL_INVALID_VALUE;
  }
  const char* first = static_cast<const char*>(pattern);
  Work work = [=, kept = Ref<_cl_mem>(buffer),
               repeated = std::vector<char>(first, first + pattern_bytes)](const LaunchOrder&) {
    char* to = kept->data() + offset;
    for (size_t at = 0; at < bytes; at += repeated.size()) std::memcpy(to + at, repeated.data(), repeated.size());
    NoteTransfer(TransferDirection::kFill, to, bytes, queue);
    return Outcome{CL_SUCCESS, TransferTime(bytes, false)};
  };
  return Scheduler::Get().Submit(queue, CL_COMMAND_FILL_BUFFER, {count, events}, std::move(work), event);
}

// There is one device, and everything is there.
cl_int CL_API_CALL EnqueueMigrateMemObjects(cl_command_queue queue, cl_uint object_count, const cl_mem* objects,
                                            cl_mem_migration_flags flags, cl_uint count, const cl_event* events,
                                            cl_event* event) {
  if (!IsValid(queue)) return CL_INVALID_COMMAND_QUEUE;
  constexpr cl_mem_migration_flags kFlags = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
  if (object_count == 0 || objects == nullptr || (flags & ~kFlags) != 0) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < object_count; ++i) {
    if (!IsValid(objects[i])) return CL_INVALID_MEM_OBJECT;
    if (objects[i]->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  }
  return Scheduler::Get().Submit(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS, {count, events}, nullptr, event);
}

}  // namespace heddle::opencl
