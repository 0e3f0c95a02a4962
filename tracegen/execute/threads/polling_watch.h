// Threads that wait for a change of memory in loops: they poll it in vain until somebody makes the change.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_POLLING_WATCH_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_POLLING_WATCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/execute/threads/wait_marks.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

// Of one block that runs. A thread whose loop has ended an iteration that changed nothing yields, and is not asked
// again before something has changed (WaitMarks::epoch). When all threads that could run are in that state, the block
// is idle. Does nothing for kernels that do not wait in loops (InstrumentedKernel::waits): is_active() is false.
class PollingWatch {
 public:
  // All must outlive the object. `shared`: the marks of all blocks that are live at once; null: the block is alone.
  PollingWatch(ThreadContext& context, ThreadScheduler& threads, WaitMarks* shared)
      : context_(context),
        threads_(threads),
        is_shared_(shared != nullptr),
        marks_(is_shared_ ? *shared : own_marks_) {}
  PollingWatch(const PollingWatch&) = delete;
  PollingWatch& operator=(const PollingWatch&) = delete;

  // A launch, or a range of its blocks, begins. `record`: what threads have waited for is kept for the trace.
  void BeginLaunch(const InstrumentedKernel& kernel, bool first_blocks, bool record);
  // A block begins, of the cluster with that number; without clusters each block is one.
  void BeginBlock(uint64_t block, uint64_t cluster);

  bool is_active() const { return !polling_.empty(); }
  bool is_shared() const { return is_shared_; }
  WaitMarks& marks() { return marks_; }

  // The running thread starts; has ended; goes on, with what it has kept; or is to keep that before another one runs.
  void Start() {
    if (is_active()) StartActive();
  }
  void Exit() {
    if (is_active()) ExitActive();
  }
  void Resume() {
    if (is_active()) ResumeActive();
  }
  void Keep() {
    if (is_active()) KeepActive();
  }

  // The running thread yields or comes to a barrier: unless it only does the same thing over and over again, others
  // may soon have a reason to go on.
  void NoteActivity() {
    if (is_active() && !RunningWaits()) marks_.Changed();
  }
  // It comes to a barrier or warp operation, to which it brings `value` if `brings_value`. A thread that waits in a
  // loop, and brings what it has brought before, lets nobody go on who would not have gone on before.
  void NoteSynchronization(uint32_t site, bool brings_value, uint64_t value) {
    if (is_active()) NoteSynchronizationActive(site, brings_value, value);
  }

  // The running thread has ended an iteration of the kernel's loop number `wait` in which it polled `address` (0 =
  // unknown) in vain. It yields from here on, until Poll.
  void Wait(uint32_t wait, uint64_t address);
  // The same thread goes on, and polls again.
  void Poll();
  // The running thread has ended an iteration of loop `wait`, which polls places that may differ from one iteration to
  // the next; `state` stands for all that decides how it goes on, and for what the thread has changed in memory.
  // Whether it has been in that state before: it then goes through the same iterations again, until others change
  // memory. (R. P. Brent's algorithm: finds any cycle, keeps one state.)
  bool Repeats(uint32_t wait, uint64_t state);
  // It has left that loop.
  void LeaveLoop(uint32_t wait) { CycleOf(wait) = Cycle{}; }
  // The running thread has changed memory while others wait for a change.
  void Wrote(uint64_t address, uint64_t bytes) { marks_.Wrote(PlaceOf(address), bytes, block_, threads_.running()); }

  // Whether every thread that is ready has polled in vain since the last change; moves one that has not to the front.
  // True where none is ready. Needs is_active().
  bool AllIdle();

  // The loop that a thread has waited in last.
  const WaitSite& LoopOf(uint32_t thread) const { return kernel_->waits[polling_[thread].wait - 1]; }
  // What a thread that has polled in vain does: "waits in a loop at k.cu:12 for a change of address 0x20".
  std::string Describe(uint32_t thread) const;

 private:
  // A state at the end of an iteration that is looked for again.
  struct Cycle {
    uint64_t state = 0;   // looked for
    uint64_t steps = 0;   // iterations since
    uint64_t most = 0;    // after so many a later state is looked for; 0: none is yet
    bool closed = false;  // it has been met again, after `most` iterations
  };
  // What a thread did when it polled in vain last.
  struct Polling {
    uint32_t waiting = 0;        // ThreadContext::waiting, while others run
    uint64_t kept_progress = 0;  // ThreadContext::progress, likewise
    uint64_t idle_in = 0;        // epoch in which it has polled in vain; it goes on in a later one
    uint32_t wait = 0;           // 1 + number of the loop
    uint32_t spins = 0;          // so often, one time after the other
    uint64_t address = 0;        // that it polled
    uint64_t progress = 0;       // ThreadContext::progress at that time
    uint64_t polled_in = 0;      // epoch when the iteration began
    uint64_t last_value = 0;     // that it brought to the operation of site last_site - 1
    uint32_t last_site = 0;
    WaitMarks::Open open;
  };

  void StartActive();
  void ExitActive();
  void ResumeActive();
  void KeepActive();
  void NoteSynchronizationActive(uint32_t site, bool brings_value, uint64_t value);
  WatchedPlace PlaceOf(uint64_t address) const;
  Cycle& CycleOf(uint32_t wait) { return cycles_[threads_.running() * kernel_->waits.size() + wait]; }
  // Whether the running thread does the same thing over and over again.
  bool RunningWaits() const { return context_.waiting != 0 && polling_[threads_.running()].spins >= 2; }

  ThreadContext& context_;
  ThreadScheduler& threads_;
  WaitMarks own_marks_;
  const bool is_shared_;
  WaitMarks& marks_;
  const InstrumentedKernel* kernel_ = nullptr;
  bool record_ = false;
  uint64_t block_ = 0;
  uint64_t owner_ = 0;            // WatchedPlace
  std::vector<Cycle> cycles_;     // by thread and loop
  std::vector<Polling> polling_;  // by thread; empty unless the kernel waits in loops
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_POLLING_WATCH_H_
