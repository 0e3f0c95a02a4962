// Streams and events of the API.
#include "tracegen/runtime/cuda/state.h"
#include "tracegen/runtime/cuda/timeline.h"
#include "tracegen/runtime/cuda/work.h"

using heddle::cuda::ContextError;
using heddle::cuda::Fail;
using heddle::cuda::Guard;
using heddle::cuda::Timeline;

namespace {

// All work is done when it is submitted; what is left of waiting is the device's time.
cudaError_t WaitFor(const char* call, cudaStream_t handle) {
  const Guard guard;
  cudaError_t error = cudaSuccess;
  CUstream_st* stream = Timeline::Get().Enter(handle, &error);
  if (stream == nullptr) return Fail(error);
  if (stream->recorder != nullptr) {
    stream->recorder->Invalidate();
    return Fail(cudaErrorStreamCaptureUnsupported);
  }
  Timeline::Get().Synchronize(stream);
  return ContextError(call);
}

// Of an event whose last record is a node of a graph nothing can be asked.
cudaError_t AskEvent(const char* call, cudaEvent_t event) {
  if (!Timeline::Get().IsEvent(event)) return Fail(cudaErrorInvalidResourceHandle);
  if (event->recorder != nullptr) {
    event->recorder->Invalidate();
    return Fail(cudaErrorCapturedEvent);
  }
  if (cudaError_t error = heddle::cuda::CheckUnsafe(call); error != cudaSuccess) return error;
  return ContextError(call);
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  const Guard guard;
  if (stream == nullptr || (flags & ~static_cast<unsigned int>(cudaStreamNonBlocking)) != 0) {
    return Fail(cudaErrorInvalidValue);
  }
  if (cudaError_t error = ContextError("cudaStreamCreate"); error != cudaSuccess) return error;
  *stream = Timeline::Get().NewStream(flags, priority);
  return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  const Guard guard;
  CUstream_st* stream = Timeline::Get().Find(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  if (priority == nullptr) return Fail(cudaErrorInvalidValue);
  *priority = stream->priority;
  return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int* flags) {
  const Guard guard;
  CUstream_st* stream = Timeline::Get().Find(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  if (flags == nullptr) return Fail(cudaErrorInvalidValue);
  *flags = stream->flags;
  return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t handle, enum cudaStreamAttrID attribute,
                                   const union cudaStreamAttrValue* value) {
  const Guard guard;
  CUstream_st* stream = Timeline::Get().Find(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  if (value == nullptr) return Fail(cudaErrorInvalidValue);
  switch (attribute) {
    case cudaStreamAttributeAccessPolicyWindow: {
      const float ratio = value->accessPolicyWindow.hitRatio;
      if (!(ratio >= 0 && ratio <= 1)) return Fail(cudaErrorInvalidValue);
      stream->access_policy = value->accessPolicyWindow;
      return cudaSuccess;
    }
    case cudaStreamAttributeSynchronizationPolicy:
      stream->synchronization = value->syncPolicy;
      return cudaSuccess;
  }
  return Fail(cudaErrorInvalidValue);
}

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, enum cudaStreamAttrID attribute,
                                   union cudaStreamAttrValue* value) {
  const Guard guard;
  const CUstream_st* stream = Timeline::Get().Find(handle);
  if (stream == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  if (value == nullptr) return Fail(cudaErrorInvalidValue);
  switch (attribute) {
    case cudaStreamAttributeAccessPolicyWindow:
      value->accessPolicyWindow = stream->access_policy;
      return cudaSuccess;
    case cudaStreamAttributeSynchronizationPolicy:
      value->syncPolicy = stream->synchronization;
      return cudaSuccess;
  }
  return Fail(cudaErrorInvalidValue);
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  const Guard guard;
  CUstream_st* target = Timeline::Get().Find(to);
  const CUstream_st* source = Timeline::Get().Find(from);
  if (target == nullptr || source == nullptr) return Fail(cudaErrorInvalidResourceHandle);
  target->access_policy = source->access_policy;
  target->synchronization = source->synchronization;
  return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache() { return ContextError("cudaCtxResetPersistingL2Cache"); }

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Guard guard;
  return Timeline::Get().DeleteStream(stream) ? cudaSuccess : Fail(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int flags) {
  const Guard guard;
  if (!Timeline::Get().IsEvent(event)) return Fail(cudaErrorInvalidResourceHandle);
  cudaError_t error = cudaSuccess;
  CUstream_st* stream = Timeline::Get().Enter(handle, &error);
  if (stream == nullptr) return Fail(error);
  if (flags == cudaEventWaitExternal && stream->recorder != nullptr) {
    return Fail(stream->recorder->Add(stream, heddle::cuda::WaitWork{event}));
  }
  if (stream->recorder != nullptr) return Fail(stream->recorder->Join(stream, event));
  if (event->recorder != nullptr) return Fail(event->recorder->Join(stream, event));
  Timeline::Get().Wait(stream, event);
  return cudaSuccess;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned int flags) {
  if (callback == nullptr || flags != 0) return Fail(cudaErrorInvalidValue);
  const cudaError_t status = WaitFor("cudaStreamAddCallback", stream);
  if (status == cudaErrorInvalidResourceHandle || status == cudaErrorStreamCaptureUnsupported) return status;
  callback(stream, status, data);
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (function == nullptr) return Fail(cudaErrorInvalidValue);
  {
    const Guard guard;
    CUstream_st* captured = Timeline::Get().Find(stream);
    if (captured != nullptr && captured->recorder != nullptr) {
      return Fail(captured->recorder->Add(captured, heddle::cuda::HostWork{function, data}));
    }
  }
  if (cudaError_t status = WaitFor("cudaLaunchHostFunc", stream); status != cudaSuccess) return status;
  function(data);
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return WaitFor("cudaStreamSynchronize", stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return WaitFor("cudaStreamQuery", stream); }

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void*, size_t, unsigned int) {
  const Guard guard;
  return Timeline::Get().Find(stream) != nullptr ? cudaSuccess : Fail(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  const Guard guard;
  if (event == nullptr) return Fail(cudaErrorInvalidValue);
  if (cudaError_t error = ContextError("cudaEventCreate"); error != cudaSuccess) return error;
  *event = Timeline::Get().NewEvent(flags);
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle, unsigned int flags) {
  const Guard guard;
  if (!Timeline::Get().IsEvent(event)) return Fail(cudaErrorInvalidResourceHandle);
  cudaError_t error = cudaSuccess;
  CUstream_st* stream = Timeline::Get().Enter(handle, &error);
  if (stream == nullptr) return Fail(error);
  if (stream->recorder != nullptr) {
    if (flags != cudaEventRecordExternal) return Fail(stream->recorder->Record(stream, event));
    return Fail(stream->recorder->Add(stream, heddle::cuda::RecordWork{event}));
  }
  Timeline::Get().Record(event, stream);
  return ContextError("cudaEventRecord");
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Guard guard;
  return AskEvent("cudaEventQuery", event);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Guard guard;
  return AskEvent("cudaEventSynchronize", event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Guard guard;
  return Timeline::Get().DeleteEvent(event) ? cudaSuccess : Fail(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const Guard guard;
  if (milliseconds == nullptr) return Fail(cudaErrorInvalidValue);
  if (!Timeline::Get().IsEvent(start) || !Timeline::Get().IsEvent(end) || !start->recorded || !end->recorded ||
      ((start->flags | end->flags) & cudaEventDisableTiming) != 0) {
    return Fail(cudaErrorInvalidResourceHandle);
  }
  if (start->recorder != nullptr || end->recorder != nullptr) return Fail(cudaErrorCapturedEvent);
  *milliseconds = static_cast<float>((static_cast<double>(end->time_ns) - static_cast<double>(start->time_ns)) * 1e-6);
  return cudaSuccess;
}

}  // extern "C"
