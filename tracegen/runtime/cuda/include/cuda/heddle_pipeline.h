// cuda::pipeline, as libcu++ names it: copies in stages. A pipeline of one thread counts the thread's own groups of
// copies; one of a block has two barriers for each stage, which say that its data are there and that it is free.
#ifndef HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_HEDDLE_PIPELINE_H_
#define HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_HEDDLE_PIPELINE_H_

#ifdef __CUDA__
#include "heddle_barrier.h"

#define HEDDLE_METHOD __forceinline__ __device__

namespace cuda {

enum class pipeline_role { producer, consumer };

namespace heddle {
struct Stage {
  barrier<thread_scope_block> produced;
  barrier<thread_scope_block> consumed;
};
}  // namespace heddle

// In shared memory; make_pipeline makes it ready.
template <thread_scope kScope, unsigned char kStages>
struct pipeline_shared_state {
  static_assert(kScope == thread_scope_block, "the state of a pipeline is shared by a thread block");
  pipeline_shared_state() = default;
  heddle::Stage heddle_stages[kStages];
};

template <thread_scope kScope>
class pipeline {
  static_assert(kScope == thread_scope_block, "pipelines of a thread or a thread block are supported");

 public:
  HEDDLE_METHOD void producer_acquire() {
    if (filled_ >= stages_) Of(filled_).consumed.wait_parity((filled_ / stages_ - 1) & 1);
  }
  HEDDLE_METHOD void producer_commit() {
    heddle::Stage& stage = Of(filled_++);
    __pipeline_arrive_on(stage.produced.heddle_handle());
    static_cast<void>(stage.produced.arrive());
  }
  HEDDLE_METHOD void consumer_wait() { Of(emptied_).produced.wait_parity(emptied_ / stages_ & 1); }
  HEDDLE_METHOD void consumer_release() { static_cast<void>(Of(emptied_++).consumed.arrive()); }
  HEDDLE_METHOD bool quit() { return false; }

 private:
  HEDDLE_METHOD pipeline(heddle::Stage* stages, unsigned int count) : own_(stages), stages_(count) {}
  HEDDLE_METHOD heddle::Stage& Of(unsigned int batch) { return own_[batch % stages_]; }

  heddle::Stage* own_;
  unsigned int stages_;
  unsigned int filled_ = 0;  // batches that this thread has begun to fill, or has emptied
  unsigned int emptied_ = 0;
  template <typename Group, unsigned char kStages>
  friend HEDDLE_METHOD pipeline<thread_scope_block> heddle_make(
      const Group& group, pipeline_shared_state<thread_scope_block, kStages>* state, unsigned int producers,
      unsigned int consumers);
};

template <>
class pipeline<thread_scope_thread> {
 public:
  HEDDLE_METHOD void producer_acquire() {}
  HEDDLE_METHOD void producer_commit() {
    __pipeline_commit();
    ++filled_;
  }
  HEDDLE_METHOD void consumer_wait() { __pipeline_wait_prior(filled_ - emptied_ - 1); }
  HEDDLE_METHOD void consumer_release() { ++emptied_; }
  HEDDLE_METHOD bool quit() { return true; }

 private:
  unsigned int filled_ = 0;
  unsigned int emptied_ = 0;
};

HEDDLE_METHOD pipeline<thread_scope_thread> make_pipeline() { return pipeline<thread_scope_thread>(); }

template <typename Group, unsigned char kStages>
HEDDLE_METHOD pipeline<thread_scope_block> heddle_make(const Group& group,
                                                       pipeline_shared_state<thread_scope_block, kStages>* state,
                                                       unsigned int producers, unsigned int consumers) {
  if (group.thread_rank() == 0) {
    for (unsigned int i = 0; i < kStages; ++i) {
      init(&state->heddle_stages[i].produced, producers);
      init(&state->heddle_stages[i].consumed, consumers);
    }
  }
  group.sync();
  return pipeline<thread_scope_block>(state->heddle_stages, kStages);
}
// All threads of the group produce and consume.
template <typename Group, unsigned char kStages>
HEDDLE_METHOD pipeline<thread_scope_block> make_pipeline(const Group& group,
                                                         pipeline_shared_state<thread_scope_block, kStages>* state) {
  const unsigned int threads = static_cast<unsigned int>(group.size());
  return heddle_make(group, state, threads, threads);
}
// As many threads produce as are named, and the others consume.
template <typename Group, unsigned char kStages>
HEDDLE_METHOD pipeline<thread_scope_block> make_pipeline(const Group& group,
                                                         pipeline_shared_state<thread_scope_block, kStages>* state,
                                                         __SIZE_TYPE__ producers) {
  const unsigned int count = static_cast<unsigned int>(producers);
  return heddle_make(group, state, count, static_cast<unsigned int>(group.size()) - count);
}
// Each thread names its role.
template <typename Group, unsigned char kStages>
HEDDLE_METHOD pipeline<thread_scope_block> make_pipeline(const Group& group,
                                                         pipeline_shared_state<thread_scope_block, kStages>* state,
                                                         pipeline_role role) {
  __shared__ unsigned int producers;
  if (group.thread_rank() == 0) producers = 0;
  group.sync();
  if (role == pipeline_role::producer) atomicAdd(&producers, 1u);
  group.sync();
  const unsigned int count = producers;
  return heddle_make(group, state, count, static_cast<unsigned int>(group.size()) - count);
}

// Until at most kPending batches of the thread are not complete.
template <unsigned char kPending>
HEDDLE_METHOD void pipeline_consumer_wait_prior(pipeline<thread_scope_thread>&) {
  heddle_asynchronous::WaitPrior<kPending>();
}
template <thread_scope kScope>
HEDDLE_METHOD void pipeline_producer_commit(pipeline<thread_scope_thread>&, barrier<kScope>& ends_with) {
  __pipeline_arrive_on(ends_with.heddle_handle());
}

template <typename Group, typename T, typename Size, thread_scope kScope>
HEDDLE_METHOD void memcpy_async(const Group& group, T* to, const T* from, Size bytes, pipeline<kScope>&) {
  heddle_asynchronous::CopyByGroup<heddle_asynchronous::AlignmentOf<T, Size>()>(group, to, from,
                                                                                static_cast<__SIZE_TYPE__>(bytes));
}
template <typename Group, typename Size, thread_scope kScope>
HEDDLE_METHOD void memcpy_async(const Group& group, void* to, const void* from, Size bytes, pipeline<kScope>&) {
  heddle_asynchronous::CopyByGroup<heddle_asynchronous::AlignmentOf<void, Size>()>(group, to, from,
                                                                                   static_cast<__SIZE_TYPE__>(bytes));
}
template <typename T, typename Size, thread_scope kScope>
HEDDLE_METHOD void memcpy_async(T* to, const T* from, Size bytes, pipeline<kScope>& of) {
  memcpy_async(heddle::OneThread(), to, from, bytes, of);
}

}  // namespace cuda

#undef HEDDLE_METHOD
#endif  // __CUDA__

#endif  // HEDDLE_TRACEGEN_RUNTIME_CUDA_INCLUDE_CUDA_HEDDLE_PIPELINE_H_
