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

// What the API's handles point to.
struct CUstream_st {
  uint64_t id = 0;  // in traces; 0 = the default stream
  unsigned int flags = cudaStreamDefault;
  cudaAccessPolicyWindow access_policy = {};  // a hint without effect
  cudaSynchronizationPolicy synchronization = cudaSyncPolicyAuto;
  int priority = 0;
  uint64_t ready_ns = 0;               // when everything in it has been done
  uint64_t last_launch = 0;            // number of the last launch in it + 1; 0 = none
  std::vector<uint64_t> dependencies;  // launches of other streams that the next launch waits for
};

struct CUevent_st {
  unsigned int flags = cudaEventDefault;
  bool recorded = false;
  uint64_t time_ns = 0;
  uint64_t last_launch = 0;  // as in its stream
  uint64_t stream = 0;
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
  bool IsEvent(cudaEvent_t event) const { return events_.count(event) != 0; }

  // Puts work of `duration_ns` into a stream; it starts when what is before it in the stream has ended, and with the
  // default stream that of all others that do not say otherwise.
  void Add(CUstream_st* stream, uint64_t duration_ns);
  // The launches that the next one in `stream` must wait for.
  std::vector<uint64_t> Dependencies(CUstream_st* stream);
  void AddLaunch(CUstream_st* stream, uint64_t launch, uint64_t duration_ns);
  void Record(CUevent_st* event, CUstream_st* stream);
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
