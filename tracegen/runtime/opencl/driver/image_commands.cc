// Reading, writing, copying and filling images.
#include <cstring>

#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/image.h"
#include "tracegen/runtime/opencl/driver/scheduler.h"

namespace heddle::opencl {
namespace {

using device::TransferDirection;

cl_int CheckObject(cl_command_queue queue, cl_mem memory, bool image) {
  if (!IsValid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!IsValid(memory) || memory->is_buffer() == image) return CL_INVALID_MEM_OBJECT;
  if (memory->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  return CL_SUCCESS;
}

cl_int Transfer(cl_command_queue queue, cl_command_type type, const Ref<_cl_mem>& memory, const Ref<_cl_mem>& other,
                const Box& to, const Box& from, const Extent& extent, TransferDirection direction,
                const WaitList& waits, cl_event* event, bool blocking = false) {
  Work work = [=, kept = memory, kept_too = other](const LaunchOrder&) {
    CopyBox(to, from, extent);
    const bool with_host = direction != TransferDirection::kDeviceToDevice;
    NoteTransfer(direction, direction == TransferDirection::kDeviceToHost ? from.data : to.data, extent.bytes(), queue);
    return Outcome{CL_SUCCESS, TransferTime(extent.bytes(), with_host)};
  };
  return Scheduler::Get().Submit(queue, type, waits, std::move(work), event, blocking);
}

cl_int HostImage(cl_command_queue queue, cl_mem image, bool read, cl_bool blocking, const size_t* origin,
                 const size_t* region, size_t row_pitch, size_t slice_pitch, void* pointer, const WaitList& waits,
                 cl_event* event) {
  if (cl_int error = CheckObject(queue, image, true); error != CL_SUCCESS) return error;
  if (pointer == nullptr) return CL_INVALID_VALUE;
  Box box;
  Extent extent;
  cl_int error = ImageBox(image, origin, region, &box, &extent);
  if (error == CL_SUCCESS) error = HostPitches(image, extent, &row_pitch, &slice_pitch);
  if (error != CL_SUCCESS) return error;
  if (!(read ? HostMayRead(image) : HostMayWrite(image))) return CL_INVALID_OPERATION;
  const Box host = {static_cast<char*>(pointer), row_pitch, slice_pitch};
  return Transfer(queue, read ? CL_COMMAND_READ_IMAGE : CL_COMMAND_WRITE_IMAGE, Ref<_cl_mem>(image), {},
                  read ? host : box, read ? box : host, extent,
                  read ? TransferDirection::kDeviceToHost : TransferDirection::kHostToDevice, waits, event,
                  blocking != CL_FALSE);
}

// Between an image and a buffer, in which the region lies without gaps.
cl_int BufferImage(cl_command_queue queue, cl_mem image, const size_t* origin, const size_t* region, cl_mem buffer,
                   size_t offset, bool to_image, const WaitList& waits, cl_event* event) {
  cl_int error = CheckObject(queue, image, true);
  if (error == CL_SUCCESS) error = CheckObject(queue, buffer, false);
  Box box;
  Extent extent;
  if (error == CL_SUCCESS) error = ImageBox(image, origin, region, &box, &extent);
  if (error != CL_SUCCESS) return error;
  if (offset > buffer->size || extent.bytes() > buffer->size - offset) return CL_INVALID_VALUE;
  const Box linear = {buffer->data() + offset, extent.width, extent.width * extent.height};
  return Transfer(queue, to_image ? CL_COMMAND_COPY_BUFFER_TO_IMAGE : CL_COMMAND_COPY_IMAGE_TO_BUFFER,
                  Ref<_cl_mem>(image), Ref<_cl_mem>(buffer), to_image ? box : linear, to_image ? linear : box, extent,
                  TransferDirection::kDeviceToDevice, waits, event);
}

}  // namespace

cl_int CL_API_CALL EnqueueReadImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                                    const size_t* region, size_t row_pitch, size_t slice_pitch, void* pointer,
                                    cl_uint count, const cl_event* events, cl_event* event) {
  return HostImage(queue, image, true, blocking, origin, region, row_pitch, slice_pitch, pointer, {count, events},
                   event);
}

cl_int CL_API_CALL EnqueueWriteImage(cl_command_queue queue, cl_mem image, cl_bool blocking, const size_t* origin,
                                     const size_t* region, size_t row_pitch, size_t slice_pitch, const void* pointer,
                                     cl_uint count, const cl_event* events, cl_event* event) {
  return HostImage(queue, image, false, blocking, origin, region, row_pitch, slice_pitch, const_cast<void*>(pointer),
                   {count, events}, event);
}

cl_int CL_API_CALL EnqueueCopyImage(cl_command_queue queue, cl_mem from, cl_mem to, const size_t* from_origin,
                                    const size_t* to_origin, const size_t* region, cl_uint count,
                                    const cl_event* events, cl_event* event) {
  cl_int error = CheckObject(queue, from, true);
  if (error == CL_SUCCESS) error = CheckObject(queue, to, true);
  if (error != CL_SUCCESS) return error;
  if (std::memcmp(&from->format, &to->format, sizeof(from->format)) != 0) return CL_IMAGE_FORMAT_MISMATCH;
  Box source, destination;
  Extent extent;
  error = ImageBox(from, from_origin, region, &source, &extent);
  if (error == CL_SUCCESS) error = ImageBox(to, to_origin, region, &destination, &extent);
  if (error != CL_SUCCESS) return error;
  if (from == to) {
    bool overlap = true;
    for (int i = 0; i < 3; ++i) {
      overlap = overlap && from_origin[i] < to_origin[i] + region[i] && to_origin[i] < from_origin[i] + region[i];
    }
    if (overlap) return CL_MEM_COPY_OVERLAP;
  }
  return Transfer(queue, CL_COMMAND_COPY_IMAGE, Ref<_cl_mem>(from), Ref<_cl_mem>(to), destination, source, extent,
                  TransferDirection::kDeviceToDevice, {count, events}, event);
}

cl_int CL_API_CALL EnqueueCopyImageToBuffer(cl_command_queue queue, cl_mem image, cl_mem buffer, const size_t* origin,
                                            const size_t* region, size_t offset, cl_uint count, const cl_event* events,
                                            cl_event* event) {
  return BufferImage(queue, image, origin, region, buffer, offset, false, {count, events}, event);
}

cl_int CL_API_CALL EnqueueCopyBufferToImage(cl_command_queue queue, cl_mem buffer, cl_mem image, size_t offset,
                                            const size_t* origin, const size_t* region, cl_uint count,
                                            const cl_event* events, cl_event* event) {
  return BufferImage(queue, image, origin, region, buffer, offset, true, {count, events}, event);
}

cl_int CL_API_CALL EnqueueFillImage(cl_command_queue queue, cl_mem image, const void* color, const size_t* origin,
                                    const size_t* region, cl_uint count, const cl_event* events, cl_event* event) {
  if (cl_int error = CheckObject(queue, image, true); error != CL_SUCCESS) return error;
  if (color == nullptr) return CL_INVALID_VALUE;
  Box box;
  Extent extent;
  if (cl_int error = ImageBox(image, origin, region, &box, &extent); error != CL_SUCCESS) return error;
  std::string texel(image->layout.texel_bytes, '\0');
  PackTexel(image->format, color, texel.data());
  Work work = [=, kept = Ref<_cl_mem>(image)](const LaunchOrder&) {
    for (size_t z = 0; z < extent.depth; ++z) {
      for (size_t y = 0; y < extent.height; ++y) {
        char* row = box.data + z * box.slice_pitch + y * box.row_pitch;
        for (size_t x = 0; x < extent.width; x += texel.size()) std::memcpy(row + x, texel.data(), texel.size());
      }
    }
    NoteTransfer(TransferDirection::kFill, box.data, extent.bytes(), queue);
    return Outcome{CL_SUCCESS, TransferTime(extent.bytes(), false)};
  };
  return Scheduler::Get().Submit(queue, CL_COMMAND_FILL_IMAGE, {count, events}, std::move(work), event);
}

}  // namespace heddle::opencl
