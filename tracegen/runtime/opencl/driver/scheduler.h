// Commands, their order, and time.
//
// A command runs as soon as everything it waits for is complete, in the thread that finds it ready: mostly the one that
// enqueues it, before its clEnqueue... returns; else the one that completes a user event. So a program with one host
// thread runs its commands in the same order every time, and two captures are the same. Commands run one at a time.
//
// Time is the device's: it passes by what commands would take on a GPU, and by a little for every call, so that it is
// the same in every run too.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_SCHEDULER_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_SCHEDULER_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

#include "tracegen/runtime/opencl/driver/device.h"
#include "tracegen/runtime/opencl/driver/object.h"

namespace heddle::opencl {

// What became of a command.
struct Outcome {
  cl_int error = CL_SUCCESS;
  uint64_t duration_ns = 0;
  // Number of the launch, if it was one.
  bool launched = false;
  uint64_t launch = 0;
};

// What a command that launches a kernel has to tell the device about its order.
struct LaunchOrder {
  uint64_t stream = 0;
  std::vector<uint64_t> dependencies;
};

using Work = std::function<Outcome(const LaunchOrder&)>;

struct EventCallback {
  cl_int status;
  void(CL_CALLBACK* function)(cl_event, cl_int, void*);
  void* user_data;
};

// What a command waits for, besides its wait list, and what waits for it.
enum class Ordering {
  kCommand,      // as the queue has it
  kMarker,       // also in an out-of-order queue for all commands before it
  kBarrier,      // the same, and all commands after it wait for it
  kListBarrier,  // waits for its list alone, and all commands after it wait for it
};

}  // namespace heddle::opencl

struct _cl_command_queue : heddle::opencl::Object {
  static constexpr auto kKind = heddle::opencl::ObjectKind::kQueue;
  _cl_command_queue() : Object(kKind) {}

  heddle::opencl::Ref<_cl_context> context;
  cl_command_queue_properties properties = 0;
  uint64_t number = 0;  // from 1, in order of creation: the stream of its launches

  // The rest belongs to the scheduler.
  bool in_order() const { return (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0; }
  size_t pending = 0;               // commands that are not complete
  cl_int error = CL_SUCCESS;        // of the last command that failed since clFinish
  std::vector<uint64_t> launches;   // out of order: those since the last barrier
  std::vector<uint64_t> inherited;  // launches that the next ones depend on, through waits of commands before them
  size_t host_seen = 0;             // launches that the host had waited for when the last command was enqueued
  uint64_t next_stream = 0;         // out of order: streams of their own for launches
  uint64_t looked_at = 0, closed_at = 0;  // search in which a command of the queue was seen, and was found waiting
};

struct _cl_event : heddle::opencl::Object {
  static constexpr auto kKind = heddle::opencl::ObjectKind::kEvent;
  _cl_event() : Object(kKind) {}

  heddle::opencl::Ref<_cl_context> context;
  heddle::opencl::Ref<_cl_command_queue> queue;  // none for user events
  cl_command_type type = 0;
  heddle::opencl::Ordering ordering = heddle::opencl::Ordering::kCommand;

  // The rest belongs to the scheduler.
  cl_int status = CL_QUEUED;
  heddle::opencl::Work work;
  std::vector<heddle::opencl::Ref<_cl_event>> waits;
  std::vector<heddle::opencl::EventCallback> callbacks;
  cl_ulong queued = 0, submitted = 0, started = 0, ended = 0;  // ns
  std::vector<uint64_t> launches;                              // whoever waits for the event waits for these launches
};

namespace heddle::opencl {

struct WaitList {
  cl_uint count = 0;
  const cl_event* events = nullptr;
};

class Scheduler {
 public:
  static Scheduler& Get();

  // CL_INVALID_EVENT_WAIT_LIST or CL_INVALID_CONTEXT.
  static cl_int Check(const WaitList& waits, const _cl_context* context);

  // Enqueues a command. With `blocking` it returns when the command is complete, with the command's error. `event`
  // unless null gets the command's event. Errors: those of Check, DeviceFault, and the command's own if it has run
  // already.
  cl_int Submit(cl_command_queue queue, cl_command_type type, const WaitList& waits, Work work, cl_event* event,
                bool blocking = false, Ordering ordering = Ordering::kCommand);

  cl_event MakeUserEvent(cl_context context);
  // CL_INVALID_OPERATION if it has been set before.
  cl_int SetUserStatus(cl_event event, cl_int status);

  // CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if one of them has failed; else DeviceFault.
  cl_int Wait(const WaitList& events);
  // Until all commands of the queue are complete. DeviceFault, or the error of one that failed.
  cl_int Finish(cl_command_queue queue);

  cl_int Status(cl_event event);
  void AddCallback(cl_event event, const EventCallback& callback);

 private:
  Scheduler() = default;
  using Lock = std::unique_lock<std::mutex>;
  void RunReady(Lock& lock);
  _cl_event* FindReady();
  bool WaitsAreOver(const _cl_event& event) const;
  void Run(_cl_event* event, Lock& lock);
  LaunchOrder OrderOf(_cl_event& event);
  void SetStatus(_cl_event* event, cl_int status);
  void HostHasWaitedFor(const std::vector<uint64_t>& launches);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Ref<_cl_event>> pending_;  // in order of their clEnqueue...
  bool running_ = false;               // a thread runs commands; it will find those that others add
  uint64_t search_ = 0;
  uint64_t host_time_ = 1'000'000'000, device_time_ = 0;  // ns
  std::vector<uint64_t> host_waited_;                     // launches, in the order in which the host waited for them
};

// What a copy between host and device, or within the device, takes on a GPU of that time: a start, and a bandwidth.
uint64_t TransferTime(uint64_t bytes, bool with_host);

}  // namespace heddle::opencl

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_SCHEDULER_H_
