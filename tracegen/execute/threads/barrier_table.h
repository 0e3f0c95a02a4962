// The barriers of a block (PTX ISA 9.7.13.1): who waits at each, and when it opens.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_BARRIER_TABLE_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_BARRIER_TABLE_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/execute/threads/warp_rendezvous.h"
#include "tracegen/instrument/instrument.h"
#include "tracegen/instrument/thread_context.h"

namespace heddle::tracegen {

// What threads have brought to a barrier since it was open last.
struct BarrierCount {
  uint32_t arrived = 0;
  uint32_t expected = 0;  // threads; 0 = all of the block
  uint32_t count = 0;     // threads with a true predicate
  BarrierReduction reduction = BarrierReduction::kNone;

  // What those who have arrived get.
  uint32_t Result() const {
    switch (reduction) {
      case BarrierReduction::kNone:
        return 0;
      case BarrierReduction::kCount:
        return count;
      case BarrierReduction::kAnd:
        return count == arrived;
      case BarrierReduction::kOr:
        return count > 0;
    }
    return 0;
  }
};

// Threads that can go on are released to the scheduler, in ascending order, with their results. Threads that have
// exited count as arrived, unless a number of threads was given.
class BarrierTable {
 public:
  static constexpr uint32_t kBarriers = 16;

  // Both must outlive the object.
  BarrierTable(ThreadScheduler& threads, WarpRendezvous& warps) : threads_(threads), warps_(warps) {}

  void BeginLaunch() { waiting_.assign(threads_.count(), Waiting{}); }
  void BeginBlock() {
    for (BarrierCount& barrier : barriers_) barrier = BarrierCount{};
  }

  // Whether a thread may come to this barrier; if not, what the program has done wrong. `place` is where in the source.
  bool Accepts(const FrameBarrier& barrier) const;
  std::string WhyRefused(const FrameBarrier& barrier, const std::string& place) const;

  // The running thread comes to a barrier that accepts it, with a predicate for those that reduce. Returns true if it
  // goes on at once, because the barrier has opened: then its result stands in DeviceThread::result.
  bool Arrive(const FrameBarrier& barrier, uint32_t predicate);

  // The running thread arrives at a barrier that accepts it, and does not wait.
  void Count(const FrameBarrier& barrier);

  // A thread has exited: opens the barriers that have waited for no other one.
  void CheckAll() {
    for (uint32_t id = 0; id < kBarriers; ++id) Check(id);
  }

  // Of threads that have met at a barrier without this table (FrameRounds), the running launch goes on with it:
  // `brought` is what they have brought, without their number, and then each of them is named.
  void Restore(uint32_t id, const BarrierCount& brought) { barriers_[id] = brought; }
  void RestoreThread(uint32_t id, uint32_t thread, uint32_t site) {
    waiting_[thread] = {id, site};
    ++barriers_[id].arrived;
  }

  // What a thread waits for that is at a barrier: "barrier 0 at k.cu:12".
  std::string Describe(uint32_t thread, const std::string& place) const;
  uint32_t SiteOf(uint32_t thread) const { return waiting_[thread].site; }

 private:
  // Of a thread whose state is kAtBarrier.
  struct Waiting {
    uint32_t id = 0;
    uint32_t site = 0;
  };

  // Opens the barrier if everybody is there.
  void Check(uint32_t id) {
    const BarrierCount& barrier = barriers_[id];
    if (barrier.arrived == 0) return;
    const bool complete = barrier.expected == 0 ? barrier.arrived + threads_.exited() >= threads_.count()
                                                : barrier.arrived >= std::min(barrier.expected, threads_.count());
    if (complete) Open(id);
  }
  void Open(uint32_t id);
  // Whether two barriers wait for the same number of threads.
  bool AreAlike(uint32_t a, uint32_t b) const {
    return a == b || (std::min(a, b) == 0 && std::max(a, b) == threads_.count());
  }

  ThreadScheduler& threads_;
  WarpRendezvous& warps_;
  std::array<BarrierCount, kBarriers> barriers_;
  std::vector<Waiting> waiting_;  // by thread
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_BARRIER_TABLE_H_
