// The barrier of a cluster (PTX ISA 9.7.13.4, barrier.cluster): threads arrive, and wait later.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_CLUSTER_BARRIER_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_CLUSTER_BARRIER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/execute/threads/warp_rendezvous.h"

namespace heddle::tracegen {

class ClusterBarrier;

// What the blocks of a cluster have in common.
struct ClusterPhase {
  uint64_t number = 0;                  // of the phase that is not over yet
  std::vector<ClusterBarrier*> blocks;  // all that are live
  std::function<void()> on_end;         // threads of any of the blocks may go on: a phase is over
};

// One block's part. Threads that have exited count as arrived.
class ClusterBarrier {
 public:
  // Both must outlive the object.
  ClusterBarrier(ThreadScheduler& threads, WarpRendezvous& warps) : threads_(threads), warps_(warps) {}
  ClusterBarrier(const ClusterBarrier&) = delete;
  ClusterBarrier& operator=(const ClusterBarrier&) = delete;

  // A block begins, which is a cluster of its own unless Join follows. `phase`: the cluster that it belongs to, of
  // which no block has run; must outlive the block.
  void BeginBlock();
  void Join(ClusterPhase& phase);

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
  // Whether all threads of the block have arrived in the phase that is not over, or have exited.
  bool IsThere() const;
  // The phase is over: lets those go on that wait for it.
  void Release();

  ThreadScheduler& threads_;
  WarpRendezvous& warps_;
  ClusterPhase own_;
  ClusterPhase* phase_ = &own_;
  std::vector<Part> parts_;  // by thread; empty until somebody arrives
  uint32_t arrived_ = 0;     // threads, some of which may have exited since
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_CLUSTER_BARRIER_H_
