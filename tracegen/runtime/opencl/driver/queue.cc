// Command queues, markers and barriers.
#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/info.h"
#include "tracegen/runtime/opencl/driver/scheduler.h"

namespace heddle::opencl {
namespace {

constexpr cl_command_queue_properties kProperties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

cl_command_queue MakeQueue(cl_context context, cl_device_id device, cl_command_queue_properties properties,
                           cl_int* errcode_ret) {
  if (!IsValid(context)) return Fail<_cl_command_queue>(CL_INVALID_CONTEXT, errcode_ret);
  if (device != Device()) return Fail<_cl_command_queue>(CL_INVALID_DEVICE, errcode_ret);
  if (const cl_int fault = DeviceFault(); fault != CL_SUCCESS) return Fail<_cl_command_queue>(fault, errcode_ret);
  static std::atomic<uint64_t> queues{0};
  cl_command_queue queue = Make<_cl_command_queue>();
  queue->context = Ref<_cl_context>(context);
  queue->properties = properties;
  queue->number = ++queues;
  return Succeed(queue, errcode_ret);
}

cl_int Marker(cl_command_queue queue, cl_command_type type, const WaitList& waits, cl_event* event, Ordering ordering) {
  if (!IsValid(queue)) return CL_INVALID_COMMAND_QUEUE;
  return Scheduler::Get().Submit(queue, type, waits, nullptr, event, false, ordering);
}

}  // namespace

cl_command_queue CL_API_CALL CreateCommandQueue(cl_context context, cl_device_id device,
                                                cl_command_queue_properties properties, cl_int* errcode_ret) {
  if ((properties & ~kProperties) != 0) return Fail<_cl_command_queue>(CL_INVALID_VALUE, errcode_ret);
  return MakeQueue(context, device, properties, errcode_ret);
}

// Of OpenCL 2.0, but called by many programs whatever the device's version is.
cl_command_queue CL_API_CALL CreateCommandQueueWithProperties(cl_context context, cl_device_id device,
                                                              const cl_queue_properties* list, cl_int* errcode_ret) {
  cl_command_queue_properties properties = 0;
  for (; list != nullptr && *list != 0; list += 2) {
    if (list[0] != CL_QUEUE_PROPERTIES) return Fail<_cl_command_queue>(CL_INVALID_VALUE, errcode_ret);
    properties = list[1];
  }
  if ((properties & ~kProperties) != 0) return Fail<_cl_command_queue>(CL_INVALID_QUEUE_PROPERTIES, errcode_ret);
  return MakeQueue(context, device, properties, errcode_ret);
}

cl_int CL_API_CALL RetainCommandQueue(cl_command_queue queue) { return RetainObject(queue, CL_INVALID_COMMAND_QUEUE); }
cl_int CL_API_CALL ReleaseCommandQueue(cl_command_queue queue) {
  return ReleaseObject(queue, CL_INVALID_COMMAND_QUEUE);
}

cl_int CL_API_CALL GetCommandQueueInfo(cl_command_queue queue, cl_command_queue_info what, size_t room, void* value,
                                       size_t* needed) {
  if (!IsValid(queue)) return CL_INVALID_COMMAND_QUEUE;
  const Answer answer(room, value, needed);
  switch (what) {
    case CL_QUEUE_CONTEXT:
      return answer.Value<cl_context>(queue->context.get());
    case CL_QUEUE_DEVICE:
      return answer.Value<cl_device_id>(Device());
    case CL_QUEUE_REFERENCE_COUNT:
      return answer.Value<cl_uint>(queue->references.load());
    case CL_QUEUE_PROPERTIES:
      return answer.Value<cl_command_queue_properties>(queue->properties);
    default:
      return CL_INVALID_VALUE;
  }
}

// Of OpenCL 1.0. Only profiling can change while the queue is in use.
cl_int CL_API_CALL SetCommandQueueProperty(cl_command_queue queue, cl_command_queue_properties properties,
                                           cl_bool enable, cl_command_queue_properties* old) {
  if (!IsValid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if ((properties & ~kProperties) != 0) return CL_INVALID_VALUE;
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) return CL_INVALID_QUEUE_PROPERTIES;
  if (old != nullptr) *old = queue->properties;
  queue->properties = enable ? queue->properties | properties : queue->properties & ~properties;
  return CL_SUCCESS;
}

// Commands have run, or wait for something that flushing cannot bring about.
cl_int CL_API_CALL Flush(cl_command_queue queue) { return IsValid(queue) ? DeviceFault() : CL_INVALID_COMMAND_QUEUE; }

cl_int CL_API_CALL Finish(cl_command_queue queue) {
  return IsValid(queue) ? Scheduler::Get().Finish(queue) : CL_INVALID_COMMAND_QUEUE;
}

cl_int CL_API_CALL EnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* events,
                                             cl_event* event) {
  // With a list it waits for that alone.
  return Marker(queue, CL_COMMAND_MARKER, {count, events}, event, count == 0 ? Ordering::kMarker : Ordering::kCommand);
}

cl_int CL_API_CALL EnqueueBarrierWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* events,
                                              cl_event* event) {
  return Marker(queue, CL_COMMAND_BARRIER, {count, events}, event,
                count == 0 ? Ordering::kBarrier : Ordering::kListBarrier);
}

cl_int CL_API_CALL EnqueueMarker(cl_command_queue queue, cl_event* event) {
  if (event == nullptr) return CL_INVALID_VALUE;
  return Marker(queue, CL_COMMAND_MARKER, {}, event, Ordering::kMarker);
}

cl_int CL_API_CALL EnqueueBarrier(cl_command_queue queue) {
  return Marker(queue, CL_COMMAND_BARRIER, {}, nullptr, Ordering::kBarrier);
}

cl_int CL_API_CALL EnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event* events) {
  if (!IsValid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (count == 0 || events == nullptr) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    if (!IsValid(events[i])) return CL_INVALID_EVENT;
  }
  return Marker(queue, CL_COMMAND_BARRIER, {count, events}, nullptr, Ordering::kListBarrier);
}

}  // namespace heddle::opencl
