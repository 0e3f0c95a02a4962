// Mapping. Device memory is mapped into the application, so a mapping is mostly the address itself; an object that lies
// over host memory (CL_MEM_USE_HOST_PTR) is copied there, and back when it is unmapped.
#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/image.h"
#include "tracegen/runtime/opencl/driver/scheduler.h"

namespace heddle::opencl {
namespace {

using device::TransferDirection;

constexpr cl_map_flags kFlags = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

cl_int CheckMap(cl_command_queue queue, cl_mem memory, bool image, cl_map_flags flags) {
  if (!IsValid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!IsValid(memory) || memory->is_buffer() == image) return CL_INVALID_MEM_OBJECT;
  if (memory->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  const bool invalidates = (flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0;
  const bool reads_or_writes = (flags & (CL_MAP_READ | CL_MAP_WRITE)) != 0;
  if (flags == 0 || (flags & ~kFlags) != 0 || (invalidates && reads_or_writes)) return CL_INVALID_VALUE;
  const bool writes = (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0;
  if (((flags & CL_MAP_READ) != 0 && !HostMayRead(memory)) || (writes && !HostMayWrite(memory))) {
    return CL_INVALID_OPERATION;
  }
  return CL_SUCCESS;
}

void* Map(cl_command_queue queue, cl_command_type type, cl_mem memory, cl_map_flags flags, const Mapping& mapping,
          bool blocking, const WaitList& waits, cl_event* event, cl_int* errcode_ret) {
  const bool copies = memory->host_pointer != nullptr;
  Work work = [=, kept = Ref<_cl_mem>(memory)](const LaunchOrder&) {
    const bool reads = (flags & CL_MAP_WRITE_INVALIDATE_REGION) == 0;
    if (copies && reads) CopyBox(mapping.host, mapping.device, mapping.extent);
    if ((flags & CL_MAP_READ) != 0) {
      NoteTransfer(TransferDirection::kDeviceToHost, mapping.device.data, mapping.extent.bytes(), queue);
    }
    return Outcome{CL_SUCCESS, (flags & CL_MAP_READ) != 0 ? TransferTime(mapping.extent.bytes(), true) : 2'000};
  };
  {
    std::lock_guard<std::mutex> lock(memory->mutex);
    memory->mappings.push_back(mapping);
  }
  const cl_int error = Scheduler::Get().Submit(queue, type, waits, std::move(work), event, blocking);
  if (errcode_ret != nullptr) *errcode_ret = error;
  if (error == CL_SUCCESS) return mapping.pointer;
  std::lock_guard<std::mutex> lock(memory->mutex);
  memory->mappings.pop_back();
  return nullptr;
}

bool Writes(cl_map_flags flags) { return (flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0; }

void* Refuse(cl_int error, cl_int* errcode_ret) {
  if (errcode_ret != nullptr) *errcode_ret = error;
  return nullptr;
}

}  // namespace

void* CL_API_CALL EnqueueMapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                   size_t offset, size_t bytes, cl_uint count, const cl_event* events, cl_event* event,
                                   cl_int* errcode_ret) {
  if (cl_int error = CheckMap(queue, buffer, false, flags); error != CL_SUCCESS) return Refuse(error, errcode_ret);
  if (bytes == 0 || offset > buffer->size || bytes > buffer->size - offset) {
    return Refuse(CL_INVALID_VALUE, errcode_ret);
  }
  Mapping mapping;
  mapping.writes = Writes(flags);
  mapping.device = {buffer->data() + offset, 0, 0};
  mapping.host = mapping.device;
  if (buffer->host_pointer != nullptr) mapping.host.data = static_cast<char*>(buffer->host_pointer) + offset;
  mapping.extent = {bytes, 1, 1};
  mapping.pointer = mapping.host.data;
  return Map(queue, CL_COMMAND_MAP_BUFFER, buffer, flags, mapping, blocking != CL_FALSE, {count, events}, event,
             errcode_ret);
}

void* CL_API_CALL EnqueueMapImage(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                                  const size_t* origin, const size_t* region, size_t* row_pitch, size_t* slice_pitch,
                                  cl_uint count, const cl_event* events, cl_event* event, cl_int* errcode_ret) {
  if (cl_int error = CheckMap(queue, image, true, flags); error != CL_SUCCESS) return Refuse(error, errcode_ret);
  const bool needs_slices = ImageDimensions(image->type) == 3 || HasLayers(image->type);
  if (row_pitch == nullptr || (needs_slices && slice_pitch == nullptr)) return Refuse(CL_INVALID_VALUE, errcode_ret);
  Mapping mapping;
  mapping.writes = Writes(flags);
  if (cl_int error = ImageBox(image, origin, region, &mapping.device, &mapping.extent); error != CL_SUCCESS) {
    return Refuse(error, errcode_ret);
  }
  mapping.host = mapping.device;
  if (image->host_pointer != nullptr) {
    const bool rows_are_layers = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const size_t row = rows_are_layers ? image->host_slice_pitch : image->host_row_pitch;
    mapping.host = {static_cast<char*>(image->host_pointer) + origin[0] * image->layout.texel_bytes + origin[1] * row +
                        origin[2] * image->host_slice_pitch,
                    row, image->host_slice_pitch};
  }
  mapping.pointer = mapping.host.data;
  *row_pitch = mapping.host.row_pitch;
  if (slice_pitch != nullptr) *slice_pitch = needs_slices ? mapping.host.slice_pitch : 0;
  return Map(queue, CL_COMMAND_MAP_IMAGE, image, flags, mapping, blocking != CL_FALSE, {count, events}, event,
             errcode_ret);
}

cl_int CL_API_CALL EnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void* pointer, cl_uint count,
                                         const cl_event* events, cl_event* event) {
  if (!IsValid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!IsValid(memory)) return CL_INVALID_MEM_OBJECT;
  if (memory->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  const WaitList waits = {count, events};
  if (cl_int error = Scheduler::Check(waits, queue->context.get()); error != CL_SUCCESS) return error;
  Mapping mapping;
  {
    std::lock_guard<std::mutex> lock(memory->mutex);
    auto at = memory->mappings.begin();
    while (at != memory->mappings.end() && at->pointer != pointer) ++at;
    if (at == memory->mappings.end()) return CL_INVALID_VALUE;
    mapping = *at;
    memory->mappings.erase(at);
  }
  Work work = [=, kept = Ref<_cl_mem>(memory)](const LaunchOrder&) {
    if (!mapping.writes) return Outcome{CL_SUCCESS, 2'000};
    if (mapping.host.data != mapping.device.data) CopyBox(mapping.device, mapping.host, mapping.extent);
    NoteTransfer(TransferDirection::kHostToDevice, mapping.device.data, mapping.extent.bytes(), queue);
    return Outcome{CL_SUCCESS, TransferTime(mapping.extent.bytes(), true)};
  };
  return Scheduler::Get().Submit(queue, CL_COMMAND_UNMAP_MEM_OBJECT, waits, std::move(work), event);
}

}  // namespace heddle::opencl
