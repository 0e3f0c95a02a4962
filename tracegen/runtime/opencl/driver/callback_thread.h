// The application's callbacks run in a thread of the driver, in the order in which they became due: an application may
// hold a lock, which its callback takes too, while it calls the driver.
#ifndef HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_CALLBACK_THREAD_H_
#define HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_CALLBACK_THREAD_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "tracegen/runtime/opencl/driver/scheduler.h"

namespace heddle::opencl {

class CallbackThread {
 public:
  static CallbackThread& Get();

  // Runs `call` soon. The thread starts with the first one.
  void Run(std::function<void()> call);
  // The callback of an event, which stays valid until then.
  void Call(cl_event event, cl_int status, const EventCallback& callback);

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::function<void()>> calls_;
  bool started_ = false;
};

}  // namespace heddle::opencl

#endif  // HEDDLE_TRACEGEN_RUNTIME_OPENCL_DRIVER_CALLBACK_THREAD_H_
