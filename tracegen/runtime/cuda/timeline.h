// Streams and events in the device's own time. All work is done when it is asked for; the clock only says when a device
// would have done it, so that events show plausible times, the same in every run: it knows the durations of kernels
// that the device process estimates, those of copies over a bus, and the order that streams and events demand.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_TIMELINE_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_TIMELINE_H_

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "tracegen/runtime/cuda/api.h"

namespace heddle::cuda {
class StreamRecorder;
}

// What the API's handles point to.
struct CUstream_st {
  uint64_t id = 0;  // in traces; 0 = the default stream
  unsigned int flags = cudaStreamDefault;
  cudaAccessPolicyWindow access_policy = {};  // a hint without effect
  cudaSynchronizationPolicy synchronization = cudaSyncPolicyAuto;
  int priority = 0;
  uint64_t ready_ns = 0;                // when everything in it has been done
  std::vector<uint64_t> last_launches;  // everything in it is over when these are; several after a graph
  std::vector<uint64_t> dependencies;   // launches of other streams that the next launch waits for
  std::shared_ptr<heddle::cuda::StreamRecorder> recorder;  // not null: the stream is being captured
};

struct CUevent_st {
  unsigned int flags = cudaEventDefault;
  bool recorded = false;
  uint64_t time_ns = 0;
  std::vector<uint64_t> last_launches;  // as in its stream
  uint64_t stream = 0;
  std::shared_ptr<heddle::cuda::StreamRecorder> recorder;  // not null: it was last recorded in a captured stream
};

namespace heddle::cuda {

// Functions are called with the Guard held.
class Timeline {
 public:
  static Timeline& Get();
  Timeline() = default;
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  CUstream_st* NewStream(unsigned int flags, int priority);
  bool DeleteStream(CUstream_st* stream);
  CUevent_st* NewEvent(unsigned int flags);
  bool DeleteEvent(CUevent_st* event);
  // The stream that a handle names: null and the special handles are the default stream. Null for no stream.
  CUstream_st* Find(cudaStream_t handle);
  // The stream for work that is about to be put into it. Null with the error: there is no such stream, or the default
  // stream would have to wait for one that is being captured, which ends that capture.
  CUstream_st* Enter(cudaStream_t handle, cudaError_t* error);
  bool IsDefault(const CUstream_st* stream) const { return stream == &default_stream_; }
  bool IsEvent(cudaEvent_t event) const { return events_.count(event) != 0; }

  // Puts work of `duration_ns` into a stream; it starts when what is before it in the stream has ended, and with the
  // default stream that of all others that do not say otherwise.
  void Add(CUstream_st* stream, uint64_t duration_ns);
  // The launches that the next one in `stream` must wait for.
  std::vector<uint64_t> Dependencies(CUstream_st* stream);
  void AddLaunch(CUstream_st* stream, uint64_t launch, uint64_t duration_ns);
  // Puts work of many parts into a stream: it starts at the time that is returned, and is over when Finish says so.
  uint64_t Begin(CUstream_st* stream) { return Start(stream); }
  void Finish(CUstream_st* stream, uint64_t end_ns, std::vector<uint64_t> last_launches);
  // A number of a stream that only the trace has.
  uint64_t NewStreamNumber() { return next_stream_++; }
  void Record(CUevent_st* event, CUstream_st* stream);
  // The event happens at a time of its own, in a stream that only the trace has.
  static void RecordAt(CUevent_st* event, uint64_t time_ns, std::vector<uint64_t> last_launches, uint64_t stream);
  void Wait(CUstream_st* stream, const CUevent_st* event);
  // The host waits for a stream, or for all.
  void Synchronize(CUstream_st* stream);
  void SynchronizeAll();

  // How long a copy takes between host and device (over a bus) or within the device.
  static uint64_t CopyNanoseconds(uint64_t bytes, bool within_device);

 private:
  uint64_t Start(CUstream_st* stream);

  CUstream_st default_stream_;
  std::set<CUstream_st*> streams_;
  std::set<CUevent_st*> events_;
  uint64_t next_stream_ = 1;
  uint64_t host_ns_ = 0;
};

}  // namespace heddle::cuda

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_TIMELINE_H_
