#include "tracegen/runtime/opencl/driver/scheduler.h"

#include <algorithm>
#include <utility>

#include "tracegen/runtime/opencl/driver/callback_thread.h"

namespace heddle::opencl {
namespace {

constexpr uint64_t kCallTime = 500;      // ns that an enqueue takes the host
constexpr uint64_t kSubmitTime = 2'000;  // ns from there to the device

void Add(std::vector<uint64_t>& to, const std::vector<uint64_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void SortUnique(std::vector<uint64_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

bool IsBarrier(Ordering ordering) { return ordering == Ordering::kBarrier || ordering == Ordering::kListBarrier; }
bool ComesAfterAll(Ordering ordering) { return ordering == Ordering::kMarker || ordering == Ordering::kBarrier; }

}  // namespace

uint64_t TransferTime(uint64_t bytes, bool with_host) {
  return with_host ? 5'000 + bytes / 12 : 2'000 + bytes / 400;  // 12 and 400 bytes per ns
}

Scheduler& Scheduler::Get() {
  static auto& scheduler = *new Scheduler;  // never destroyed: threads may run until the very end of the program
  return scheduler;
}

cl_int Scheduler::Check(const WaitList& waits, const _cl_context* context) {
  if ((waits.count == 0) != (waits.events == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
  for (cl_uint i = 0; i < waits.count; ++i) {
    if (!IsValid(waits.events[i])) return CL_INVALID_EVENT_WAIT_LIST;
    if (waits.events[i]->context.get() != context) return CL_INVALID_CONTEXT;
  }
  return CL_SUCCESS;
}

cl_int Scheduler::Submit(cl_command_queue queue, cl_command_type type, const WaitList& waits, Work work,
                         cl_event* event_ret, bool blocking, Ordering ordering) {
  if (cl_int error = Check(waits, queue->context.get()); error != CL_SUCCESS) return error;
  if (cl_int error = DeviceFault(); error != CL_SUCCESS) return error;
  cl_event event = Make<_cl_event>();
  const Ref<_cl_event> kept(event);
  event->context = queue->context;
  event->queue = Ref<_cl_command_queue>(queue);
  event->type = type;
  event->ordering = ordering;
  event->work = std::move(work);
  for (cl_uint i = 0; i < waits.count; ++i) event->waits.emplace_back(waits.events[i]);
  cl_int error = CL_SUCCESS;
  {
    Lock lock(mutex_);
    host_time_ += kCallTime;
    event->queued = host_time_;
    pending_.push_back(kept);
    ++queue->pending;
    RunReady(lock);
    if (blocking) {
      changed_.wait(lock, [&] { return event->status <= CL_COMPLETE; });
      host_time_ = std::max(host_time_, event->ended);
      HostHasWaitedFor(event->launches);
    }
    if (event->status < 0) error = event->status;
  }
  // An application that gets an error gets no event.
  if (error == CL_SUCCESS && event_ret != nullptr) {
    *event_ret = event;
  } else {
    ReleaseObject(event, CL_INVALID_EVENT);
  }
  return error;
}

// Runs what is ready, until nothing is. The lock is released while a command runs.
void Scheduler::RunReady(Lock& lock) {
  if (running_) return;
  running_ = true;
  while (_cl_event* event = FindReady()) Run(event, lock);
  running_ = false;
}

bool Scheduler::WaitsAreOver(const _cl_event& event) const {
  return std::all_of(event.waits.begin(), event.waits.end(),
                     [](const Ref<_cl_event>& wait) { return wait->status <= CL_COMPLETE; });
}

// The first command that may run: its waits are over, and its queue lets it.
_cl_event* Scheduler::FindReady() {
  ++search_;
  for (const Ref<_cl_event>& event : pending_) {
    _cl_command_queue& queue = *event->queue.get();
    const bool first = queue.looked_at != search_;
    if (queue.closed_at != search_ && WaitsAreOver(*event.get()) &&
        (first || (!queue.in_order() && !ComesAfterAll(event->ordering)))) {
      return event.get();
    }
    queue.looked_at = search_;
    if (queue.in_order() || IsBarrier(event->ordering)) queue.closed_at = search_;
  }
  return nullptr;
}

void Scheduler::Run(_cl_event* event, Lock& lock) {
  const Ref<_cl_event> kept(event);
  _cl_command_queue& queue = *event->queue.get();
  event->submitted = event->queued + kSubmitTime / 2;
  event->started = std::max(event->queued + kSubmitTime, device_time_);
  bool waits_failed = false;
  for (const Ref<_cl_event>& wait : event->waits) {
    event->started = std::max(event->started, wait->ended);
    waits_failed = waits_failed || wait->status < 0;
  }
  const LaunchOrder order = OrderOf(*event);
  Outcome outcome;
  Work work = std::move(event->work);
  if (!waits_failed) {
    SetStatus(event, CL_SUBMITTED);
    SetStatus(event, CL_RUNNING);
  }
  // What the command holds may be the last reference to an object, and call the application when it goes.
  lock.unlock();
  if (waits_failed) {
    outcome.error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  } else if (const cl_int fault = DeviceFault(); fault != CL_SUCCESS) {
    outcome.error = fault;  // of a command that was enqueued before
  } else if (work) {
    outcome = work(order);
  }
  work = nullptr;
  lock.lock();
  event->ended = event->started + outcome.duration_ns;
  device_time_ = std::max(device_time_, event->ended);
  if (outcome.launched) {
    event->launches = {outcome.launch};
    if (queue.in_order()) {
      queue.launches = {outcome.launch};
      queue.inherited.clear();
    } else {
      queue.launches.push_back(outcome.launch);
    }
  } else {
    event->launches = order.dependencies;
    if (queue.in_order() || IsBarrier(event->ordering)) queue.inherited = order.dependencies;
    if (event->ordering == Ordering::kBarrier) queue.launches.clear();
  }
  event->waits.clear();
  pending_.remove_if([&](const Ref<_cl_event>& other) { return other.get() == event; });
  --queue.pending;
  if (outcome.error != CL_SUCCESS) queue.error = outcome.error;
  SetStatus(event, outcome.error);
  changed_.notify_all();
}

// Launches that a command's launch, or what waits for the command, has to come after.
LaunchOrder Scheduler::OrderOf(_cl_event& event) {
  _cl_command_queue& queue = *event.queue.get();
  LaunchOrder order;
  order.stream = queue.in_order() ? queue.number : (++queue.next_stream << 32 | queue.number);
  for (const Ref<_cl_event>& wait : event.waits) Add(order.dependencies, wait->launches);
  Add(order.dependencies, queue.inherited);
  order.dependencies.insert(order.dependencies.end(), host_waited_.begin() + static_cast<ptrdiff_t>(queue.host_seen),
                            host_waited_.end());
  if (queue.in_order()) {
    queue.host_seen = host_waited_.size();
    // What others wait for when they wait for this command; the stream itself orders its launches.
    if (event.type != CL_COMMAND_NDRANGE_KERNEL && event.type != CL_COMMAND_TASK) {
      Add(order.dependencies, queue.launches);
    }
  } else if (ComesAfterAll(event.ordering)) {
    Add(order.dependencies, queue.launches);
  }
  SortUnique(order.dependencies);
  return order;
}

void Scheduler::HostHasWaitedFor(const std::vector<uint64_t>& launches) {
  for (uint64_t launch : launches) {
    if (host_waited_.empty() || host_waited_.back() != launch) host_waited_.push_back(launch);
  }
}

void Scheduler::SetStatus(_cl_event* event, cl_int status) {
  event->status = status;
  auto reached = [&](const EventCallback& callback) { return status <= callback.status; };
  for (const EventCallback& callback : event->callbacks) {
    if (reached(callback)) CallbackThread::Get().Call(event, status < 0 ? status : callback.status, callback);
  }
  event->callbacks.erase(std::remove_if(event->callbacks.begin(), event->callbacks.end(), reached),
                         event->callbacks.end());
}

cl_event Scheduler::MakeUserEvent(cl_context context) {
  cl_event event = Make<_cl_event>();
  event->context = Ref<_cl_context>(context);
  event->type = CL_COMMAND_USER;
  event->status = CL_SUBMITTED;
  return event;
}

cl_int Scheduler::SetUserStatus(cl_event event, cl_int status) {
  Lock lock(mutex_);
  if (event->status != CL_SUBMITTED) return CL_INVALID_OPERATION;
  event->ended = host_time_ += kCallTime;
  SetStatus(event, status);
  RunReady(lock);
  changed_.notify_all();
  return CL_SUCCESS;
}

cl_int Scheduler::Wait(const WaitList& events) {
  std::vector<Ref<_cl_event>> kept;
  for (cl_uint i = 0; i < events.count; ++i) kept.emplace_back(events.events[i]);
  Lock lock(mutex_);
  cl_int error = CL_SUCCESS;
  for (const Ref<_cl_event>& event : kept) {
    changed_.wait(lock, [&] { return event->status <= CL_COMPLETE; });
    host_time_ = std::max(host_time_, event->ended);
    HostHasWaitedFor(event->launches);
    if (event->status < 0) error = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  }
  return error != CL_SUCCESS ? error : DeviceFault();
}

cl_int Scheduler::Finish(cl_command_queue queue) {
  const Ref<_cl_command_queue> kept(queue);
  Lock lock(mutex_);
  changed_.wait(lock, [&] { return queue->pending == 0; });
  host_time_ = std::max(host_time_, device_time_);
  HostHasWaitedFor(queue->launches);
  const cl_int error = std::exchange(queue->error, CL_SUCCESS);
  const cl_int fault = DeviceFault();
  return fault != CL_SUCCESS ? fault : error;
}

cl_int Scheduler::Status(cl_event event) {
  Lock lock(mutex_);
  return event->status;
}

void Scheduler::AddCallback(cl_event event, const EventCallback& callback) {
  Lock lock(mutex_);
  if (event->status <= callback.status) {
    CallbackThread::Get().Call(event, event->status < 0 ? event->status : callback.status, callback);
  } else {
    event->callbacks.push_back(callback);
  }
}

}  // namespace heddle::opencl
