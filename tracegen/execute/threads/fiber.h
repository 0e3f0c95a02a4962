// Switchable stacks for device threads.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_FIBER_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_FIBER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

extern "C" {
// Saves the callee-saved registers and the stack pointer of the caller, and continues where `to` was saved.
void heddle_switch_stack(void** from, void* to);
// Calls entry(context, arguments) and remembers in *unwind how to leave it early.
void heddle_enter_kernel(void (*entry)(ThreadContext*, const void* const*), ThreadContext* context,
                         const void* const* arguments, void** unwind);
// Returns from the heddle_enter_kernel call that stored `unwind`, whatever has been called since.
[[noreturn]] void heddle_leave_kernel(void* unwind);
}

// A stack with a gap below it, in which nothing is mapped.
struct Fiber {
  void* stack_pointer = nullptr;  // while it does not run
  void* unwind = nullptr;         // for heddle_leave_kernel
  char* guard = nullptr;          // start of the gap; accesses fault
  char* top = nullptr;
};

// Fibers that all run `main(argument)` from the start when they are switched to for the first time after Get; `main`
// must not return. Stacks are mapped once and reused.
class FiberPool {
 public:
  static constexpr size_t kStackBytes = 256 << 10;
  static constexpr size_t kGuardBytes = 16 << 10;

  FiberPool(void (*main)(void*), void* argument) : main_(main), argument_(argument) {}
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;

  // A fiber ready to be switched to; null if memory is out.
  Fiber* Get();
  // Takes back a fiber that waits inside `main`; it continues there when it is used again.
  void Put(Fiber* fiber) { free_.push_back(fiber); }
  // All fibers forget where they were and start afresh: after a run was abandoned.
  void Reset();
  // True if the address lies in a guard: a stack overflow.
  bool InGuard(const void* address) const;

 private:
  void Prepare(Fiber* fiber, size_t index);

  void (*main_)(void*);
  void* argument_;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> free_;
};

// Which fiber of a pool runs, and the change from one to the next. The stack on which Launch is called is the launching
// one; it goes on when a fiber switches to null.
class FiberSwitch {
 public:
  FiberSwitch(void (*main)(void*), void* argument) : pool_(main, argument) {}

  FiberPool& pool() { return pool_; }
  const FiberPool& pool() const { return pool_; }
  Fiber* running() const { return running_; }
  // Threads that wait on a stack (Suspend).
  uint32_t suspended() const { return suspended_; }
  // A block begins: nothing waits on any stack.
  void BeginBlock() { suspended_ = 0; }

  // From the launching stack: lets `first` run. Returns when a fiber switches to null, or the run is abandoned.
  void Launch(Fiber* first) {
    running_ = first;
    heddle_switch_stack(&launcher_, first->stack_pointer);
  }
  // From a fiber: lets `next` run, or the launching stack if it is null. Returns when somebody switches back.
  void SwitchTo(Fiber* next) {
    Fiber* const self = running_;
    if (next == self) return;
    if (next != nullptr) running_ = next;
    heddle_switch_stack(&self->stack_pointer, next != nullptr ? next->stack_pointer : launcher_);
    running_ = self;
  }
  // SwitchTo for a thread that waits on its stack meanwhile.
  void Suspend(Fiber* next) {
    ++suspended_;
    SwitchTo(next);
    --suspended_;
  }
  // From a fiber, which is not used again before FiberPool::Reset: back to the launching stack for good.
  [[noreturn]] void Abandon() {
    void* abandoned;
    heddle_switch_stack(&abandoned, launcher_);
    __builtin_unreachable();
  }

 private:
  FiberPool pool_;
  Fiber* running_ = nullptr;
  void* launcher_ = nullptr;  // stack pointer of Launch while fibers run
  uint32_t suspended_ = 0;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_FIBER_H_
