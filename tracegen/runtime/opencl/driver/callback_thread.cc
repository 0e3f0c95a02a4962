#include "tracegen/runtime/opencl/driver/callback_thread.h"

#include <thread>
#include <utility>

namespace heddle::opencl {

CallbackThread& CallbackThread::Get() {
  static auto& thread = *new CallbackThread;  // never destroyed: its thread runs until the program ends
  return thread;
}

void CallbackThread::Run(std::function<void()> call) {
  std::lock_guard<std::mutex> lock(mutex_);
  calls_.push_back(std::move(call));
  if (!started_) {
    std::thread([this] { Loop(); }).detach();
    started_ = true;
  }
  added_.notify_one();
}

void CallbackThread::Call(cl_event event, cl_int status, const EventCallback& callback) {
  Run([kept = Ref<_cl_event>(event), status, callback] { callback.function(kept.get(), status, callback.user_data); });
}

void CallbackThread::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    added_.wait(lock, [&] { return !calls_.empty(); });
    std::function<void()> call = std::move(calls_.front());
    calls_.pop_front();
    lock.unlock();
    call();
    call = nullptr;
    lock.lock();
  }
}

}  // namespace heddle::opencl
