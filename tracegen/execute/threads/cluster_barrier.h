// The barrier of a cluster of one block (PTX ISA 9.7.13.4, barrier.cluster): threads arrive, and wait later.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_CLUSTER_BARRIER_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_CLUSTER_BARRIER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/execute/threads/warp_rendezvous.h"

namespace heddle::tracegen {

// Threads that have exited count as arrived.
class ClusterBarrier {
 public:
  // Both must outlive the object.
  ClusterBarrier(ThreadScheduler& threads, WarpRendezvous& warps) : threads_(threads), warps_(warps) {}

  void BeginBlock();

  // The running thread arrives; waits for the phase in which it has arrived. Empty, or what the program has done wrong.
  std::string Arrive();
  std::string WhyNoWait() const;
  // True: it goes on at once. Otherwise it waits, at this place of the source.
  bool Wait(uint32_t site);

  // A thread has exited.
  void Check();

  // Of a thread in state kAtPhase that waits here.
  bool IsWaiting(uint32_t thread) const { return thread < parts_.size() && parts_[thread].waits; }
  uint32_t SiteOf(uint32_t thread) const { return parts_[thread].site; }

 private:
  struct Part {
    uint64_t phase = 0;  // 1 + the phase in which the thread has arrived last and has not waited for; 0: in none
    bool waits = false;
    uint32_t site = 0;
  };

  Part& Running();

  ThreadScheduler& threads_;
  WarpRendezvous& warps_;
  std::vector<Part> parts_;  // by thread; empty until somebody arrives
  uint64_t phase_ = 0;       // that is not over yet
  uint32_t arrived_ = 0;     // threads, some of which may have exited since
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_CLUSTER_BARRIER_H_
