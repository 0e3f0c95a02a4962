// cuda::barrier of a thread block, and cuda::memcpy_async that a barrier waits for, as libcu++ names them.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_HEDDLE_BARRIER_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_HEDDLE_BARRIER_H_

#ifdef __CUDA__
#include "../heddle_cuda_asynchronous.h"
#include "../heddle_cuda_group_copies.h"

#define HEDDLE_METHOD __forceinline__ __device__

// libcu++, where it is installed, has the scopes for everything else of it.
#if __cplusplus >= 201703L && __has_include(<cuda/atomic>)
#include <cuda/atomic>
#else
namespace cuda {
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
}
#endif

namespace cuda {

namespace heddle {
// What completes nothing besides.
struct NoCompletion {
  HEDDLE_METHOD void operator()() const {}
};
// What a barrier does besides: nothing, or a call by the last thread that arrives in a phase, before its own arrival
// ends the phase. Arrivals are counted a second time for it.
template <typename Completion>
class Completing {
 public:
  Completing() = default;
  HEDDLE_METHOD void Begin(long expected, Completion&& completion) {
    ::new (static_cast<void*>(completion_)) Completion(static_cast<Completion&&>(completion));
    expected_ = expected;
    arrived_ = dropped_ = 0;
  }
  // In front of `arrivals` by the calling thread, which takes part in later phases or not.
  HEDDLE_METHOD void Arrive(long arrivals, bool drops) {
    __threadfence_block();
    if (drops) atomicAdd(&dropped_, 1);
    const int count = static_cast<int>(arrivals);
    if (atomicAdd(&arrived_, count) + count != expected_) return;
    __threadfence_block();
    expected_ -= dropped_;
    arrived_ = dropped_ = 0;
    (*reinterpret_cast<Completion*>(completion_))();
    __threadfence_block();
  }

 private:
  // As bytes: what has captures cannot be made without them, nor be assigned.
  alignas(Completion) unsigned char completion_[sizeof(Completion)];
  int expected_;
  int arrived_;
  int dropped_;
};
template <>
class Completing<NoCompletion> {
 public:
  HEDDLE_METHOD void Begin(long, NoCompletion&&) {}
  HEDDLE_METHOD void Arrive(long, bool) {}
};
// One thread as a group.
struct OneThread {
  HEDDLE_METHOD unsigned int size() const { return 1; }
  HEDDLE_METHOD unsigned int thread_rank() const { return 0; }
};
}  // namespace heddle

// A barrier in shared memory: `expected` arrivals end a phase.
template <thread_scope kScope, typename Completion = heddle::NoCompletion>
class barrier : private heddle::Completing<Completion> {
  static_assert(kScope == thread_scope_block || kScope == thread_scope_thread,
                "cuda::barrier is supported for thread_scope_block: barriers of the device or the system are not");

 public:
  class arrival_token {
   public:
    arrival_token() = default;

   private:
    HEDDLE_METHOD explicit arrival_token(__mbarrier_token_t state) : state_(state) {}
    __mbarrier_token_t state_;
    friend class barrier;
  };

  barrier() = default;
  HEDDLE_METHOD explicit barrier(long expected, Completion completion = Completion()) {
    Begin(expected, static_cast<Completion&&>(completion));
  }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  [[nodiscard]] HEDDLE_METHOD arrival_token arrive(long arrivals = 1) {
    Completing::Arrive(arrivals, false);
    arrival_token token(__mbarrier_arrive(&state_));
    for (long i = 1; i < arrivals; ++i) token.state_ = __mbarrier_arrive(&state_);
    return token;
  }
  HEDDLE_METHOD void wait(arrival_token token) const {
    while (!__mbarrier_try_wait(&state_, token.state_)) {
    }
  }
  HEDDLE_METHOD void wait_parity(bool parity) const {
    while (!__mbarrier_try_wait_parity(&state_, parity)) {
    }
  }
  HEDDLE_METHOD bool try_wait(arrival_token token) const { return __mbarrier_try_wait(&state_, token.state_); }
  HEDDLE_METHOD bool try_wait_parity(bool parity) const { return __mbarrier_try_wait_parity(&state_, parity); }
  HEDDLE_METHOD void arrive_and_wait() { wait(arrive()); }
  HEDDLE_METHOD void arrive_and_drop() {
    Completing::Arrive(1, true);
    __mbarrier_arrive_and_drop(&state_);
  }
  static HEDDLE_METHOD constexpr long max() { return (1 << 20) - 1; }

  // For barrier_native_handle, and copies.
  HEDDLE_METHOD __mbarrier_t* heddle_handle() { return &state_; }
  HEDDLE_METHOD void Begin(long expected, Completion&& completion) {
    Completing::Begin(expected, static_cast<Completion&&>(completion));
    __mbarrier_init(&state_, static_cast<unsigned int>(expected));
  }

 private:
  using Completing = heddle::Completing<Completion>;
  mutable __mbarrier_t state_;
};

template <thread_scope kScope, typename Completion>
HEDDLE_METHOD void init(barrier<kScope, Completion>* made, long expected, Completion completion = Completion()) {
  made->Begin(expected, static_cast<Completion&&>(completion));
}

namespace device {
template <thread_scope kScope, typename Completion>
HEDDLE_METHOD __mbarrier_t* barrier_native_handle(barrier<kScope, Completion>& of) {
  return of.heddle_handle();
}
}  // namespace device

// Copies of a group, or of one thread: the phase of the barrier in which they begin does not end before they have.
template <typename Group, typename T, typename Size, thread_scope kScope, typename Completion>
HEDDLE_METHOD void memcpy_async(const Group& group, T* to, const T* from, Size bytes,
                                barrier<kScope, Completion>& ends_with) {
  heddle_asynchronous::CopyByGroup<heddle_asynchronous::AlignmentOf<T, Size>()>(group, to, from,
                                                                                static_cast<__SIZE_TYPE__>(bytes));
  __pipeline_arrive_on(ends_with.heddle_handle());
}
template <typename Group, typename Size, thread_scope kScope, typename Completion>
HEDDLE_METHOD void memcpy_async(const Group& group, void* to, const void* from, Size bytes,
                                barrier<kScope, Completion>& ends_with) {
  heddle_asynchronous::CopyByGroup<heddle_asynchronous::AlignmentOf<void, Size>()>(group, to, from,
                                                                                   static_cast<__SIZE_TYPE__>(bytes));
  __pipeline_arrive_on(ends_with.heddle_handle());
}
template <typename T, typename Size, thread_scope kScope, typename Completion>
HEDDLE_METHOD void memcpy_async(T* to, const T* from, Size bytes, barrier<kScope, Completion>& ends_with) {
  memcpy_async(heddle::OneThread(), to, from, bytes, ends_with);
}

}  // namespace cuda

#undef HEDDLE_METHOD
#endif  // __CUDA__

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_HEDDLE_BARRIER_H_
