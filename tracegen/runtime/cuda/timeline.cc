#include "tracegen/runtime/cuda/timeline.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "tracegen/runtime/cuda/work.h"

namespace heddle::cuda {
namespace {

// Time between two things that the host asks for.
constexpr uint64_t kSubmitNanoseconds = 2000;
// Bandwidths of a PCI Express 3.0 x16 bus and of a device's memory, bytes per microsecond, and the fixed cost of a
// copy.
constexpr uint64_t kBusBytesPerMicrosecond = 12000;
constexpr uint64_t kDeviceBytesPerMicrosecond = 350000;
constexpr uint64_t kCopyNanoseconds = 5000;

bool Blocks(const CUstream_st& stream) { return (stream.flags & cudaStreamNonBlocking) == 0; }

}  // namespace

Timeline& Timeline::Get() {
  static auto& timeline = *new Timeline;
  return timeline;
}

Timeline::~Timeline() {
  for (CUstream_st* stream : streams_) delete stream;
  for (CUevent_st* event : events_) delete event;
}

CUstream_st* Timeline::NewStream(unsigned int flags, int priority) {
  auto* stream = new CUstream_st;
  stream->id = next_stream_++;
  stream->flags = flags;
  stream->priority = priority;
  streams_.insert(stream);
  return stream;
}

bool Timeline::DeleteStream(CUstream_st* stream) {
  if (streams_.erase(stream) == 0) return false;
  if (const std::shared_ptr<StreamRecorder> recorder = stream->recorder) recorder->Forget(stream);
  // What was in it still comes before later work of the default stream.
  default_stream_.ready_ns = std::max(default_stream_.ready_ns, stream->ready_ns);
  delete stream;
  return true;
}

CUevent_st* Timeline::NewEvent(unsigned int flags) {
  auto* event = new CUevent_st;
  event->flags = flags;
  events_.insert(event);
  return event;
}

bool Timeline::DeleteEvent(CUevent_st* event) {
  if (events_.erase(event) == 0) return false;
  delete event;
  return true;
}

CUstream_st* Timeline::Find(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread) return &default_stream_;
  return streams_.count(handle) != 0 ? handle : nullptr;
}

CUstream_st* Timeline::Enter(cudaStream_t handle, cudaError_t* error) {
  *error = cudaErrorInvalidResourceHandle;
  CUstream_st* stream = Find(handle);
  if (stream != &default_stream_) return stream;
  bool waits = false;
  for (const CUstream_st* other : streams_) {
    if (other->recorder == nullptr || !Blocks(*other)) continue;
    other->recorder->Invalidate();
    waits = true;
  }
  *error = cudaErrorStreamCaptureImplicit;
  return waits ? nullptr : stream;
}

uint64_t Timeline::Start(CUstream_st* stream) {
  host_ns_ += kSubmitNanoseconds;
  uint64_t start = std::max(stream->ready_ns, host_ns_);
  if (stream == &default_stream_) {
    for (const CUstream_st* other : streams_) {
      if (Blocks(*other)) start = std::max(start, other->ready_ns);
    }
  } else if (Blocks(*stream)) {
    start = std::max(start, default_stream_.ready_ns);
  }
  return start;
}

void Timeline::Add(CUstream_st* stream, uint64_t duration_ns) { stream->ready_ns = Start(stream) + duration_ns; }

std::vector<uint64_t> Timeline::Dependencies(CUstream_st* stream) {
  std::vector<uint64_t> launches = std::move(stream->dependencies);
  stream->dependencies.clear();
  const auto add = [&](const CUstream_st& other) {
    launches.insert(launches.end(), other.last_launches.begin(), other.last_launches.end());
  };
  if (stream == &default_stream_) {
    for (const CUstream_st* other : streams_) {
      if (Blocks(*other)) add(*other);
    }
  } else if (Blocks(*stream)) {
    add(default_stream_);
  }
  std::sort(launches.begin(), launches.end());
  launches.erase(std::unique(launches.begin(), launches.end()), launches.end());
  return launches;
}

void Timeline::AddLaunch(CUstream_st* stream, uint64_t launch, uint64_t duration_ns) {
  Add(stream, duration_ns);
  stream->last_launches = {launch};
}

void Timeline::Finish(CUstream_st* stream, uint64_t end_ns, std::vector<uint64_t> last_launches) {
  stream->ready_ns = std::max(stream->ready_ns, end_ns);
  // Some are of other streams, to the trace.
  stream->dependencies.insert(stream->dependencies.end(), last_launches.begin(), last_launches.end());
  stream->last_launches = std::move(last_launches);
}

void Timeline::RecordAt(CUevent_st* event, uint64_t time_ns, std::vector<uint64_t> last_launches, uint64_t stream) {
  event->recorded = true;
  event->time_ns = time_ns;
  event->last_launches = std::move(last_launches);
  event->stream = stream;
  event->recorder = nullptr;
}

void Timeline::Record(CUevent_st* event, CUstream_st* stream) {
  RecordAt(event, Start(stream), stream->last_launches, stream->id);
}

void Timeline::Wait(CUstream_st* stream, const CUevent_st* event) {
  if (!event->recorded) return;
  stream->ready_ns = std::max(stream->ready_ns, event->time_ns);
  if (event->stream == stream->id) return;
  stream->dependencies.insert(stream->dependencies.end(), event->last_launches.begin(), event->last_launches.end());
}

void Timeline::Synchronize(CUstream_st* stream) { host_ns_ = std::max(host_ns_, stream->ready_ns); }

void Timeline::SynchronizeAll() {
  Synchronize(&default_stream_);
  for (CUstream_st* stream : streams_) Synchronize(stream);
}

uint64_t Timeline::CopyNanoseconds(uint64_t bytes, bool within_device) {
  const uint64_t rate = within_device ? kDeviceBytesPerMicrosecond : kBusBytesPerMicrosecond;
  return kCopyNanoseconds + bytes / rate * 1000 + bytes % rate * 1000 / rate;
}

}  // namespace heddle::cuda
