// Events: waiting, information, callbacks, user events, profiling.
#include "tracegen/runtime/opencl/driver/api.h"
#include "tracegen/runtime/opencl/driver/info.h"
#include "tracegen/runtime/opencl/driver/scheduler.h"

namespace heddle::opencl {

cl_int CL_API_CALL WaitForEvents(cl_uint count, const cl_event* events) {
  if (count == 0 || events == nullptr) return CL_INVALID_VALUE;
  for (cl_uint i = 0; i < count; ++i) {
    if (!IsValid(events[i])) return CL_INVALID_EVENT;
    if (events[i]->context.get() != events[0]->context.get()) return CL_INVALID_CONTEXT;
  }
  return Scheduler::Get().Wait({count, events});
}

cl_int CL_API_CALL RetainEvent(cl_event event) { return RetainObject(event, CL_INVALID_EVENT); }
cl_int CL_API_CALL ReleaseEvent(cl_event event) { return ReleaseObject(event, CL_INVALID_EVENT); }

cl_int CL_API_CALL GetEventInfo(cl_event event, cl_event_info what, size_t room, void* value, size_t* needed) {
  if (!IsValid(event)) return CL_INVALID_EVENT;
  const Answer answer(room, value, needed);
  switch (what) {
    case CL_EVENT_COMMAND_QUEUE:
      return answer.Value<cl_command_queue>(event->queue.get());
    case CL_EVENT_CONTEXT:
      return answer.Value<cl_context>(event->context.get());
    case CL_EVENT_COMMAND_TYPE:
      return answer.Value<cl_command_type>(event->type);
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
      return answer.Value<cl_int>(Scheduler::Get().Status(event));
    case CL_EVENT_REFERENCE_COUNT:
      return answer.Value<cl_uint>(event->references.load());
    default:
      return CL_INVALID_VALUE;
  }
}

cl_event CL_API_CALL CreateUserEvent(cl_context context, cl_int* errcode_ret) {
  if (!IsValid(context)) return Fail<_cl_event>(CL_INVALID_CONTEXT, errcode_ret);
  return Succeed(Scheduler::Get().MakeUserEvent(context), errcode_ret);
}

cl_int CL_API_CALL SetUserEventStatus(cl_event event, cl_int status) {
  if (!IsValid(event) || event->type != CL_COMMAND_USER) return CL_INVALID_EVENT;
  if (status > CL_COMPLETE) return CL_INVALID_VALUE;
  const Ref<_cl_event> kept(event);
  return Scheduler::Get().SetUserStatus(event, status);
}

cl_int CL_API_CALL SetEventCallback(cl_event event, cl_int status, void(CL_CALLBACK* function)(cl_event, cl_int, void*),
                                    void* user_data) {
  if (!IsValid(event)) return CL_INVALID_EVENT;
  if (function == nullptr || (status != CL_SUBMITTED && status != CL_RUNNING && status != CL_COMPLETE)) {
    return CL_INVALID_VALUE;
  }
  Scheduler::Get().AddCallback(event, {status, function, user_data});
  return CL_SUCCESS;
}

cl_int CL_API_CALL GetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t room, void* value,
                                         size_t* needed) {
  if (!IsValid(event)) return CL_INVALID_EVENT;
  if (!event->queue || (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0 ||
      Scheduler::Get().Status(event) != CL_COMPLETE) {
    return CL_PROFILING_INFO_NOT_AVAILABLE;
  }
  const Answer answer(room, value, needed);
  switch (what) {
    case CL_PROFILING_COMMAND_QUEUED:
      return answer.Value<cl_ulong>(event->queued);
    case CL_PROFILING_COMMAND_SUBMIT:
      return answer.Value<cl_ulong>(event->submitted);
    case CL_PROFILING_COMMAND_START:
      return answer.Value<cl_ulong>(event->started);
    case CL_PROFILING_COMMAND_END:
      return answer.Value<cl_ulong>(event->ended);
    default:
      return CL_INVALID_VALUE;
  }
}

}  // namespace heddle::opencl
