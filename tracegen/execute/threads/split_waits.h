// What threads begin at one instruction and wait for at another: copies, phases of transaction barriers, the cluster's
// barrier.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_SPLIT_WAITS_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_SPLIT_WAITS_H_

#include <cstdint>
#include <string>

#include "tracegen/execute/threads/async_copies.h"
#include "tracegen/execute/threads/cluster_barrier.h"
#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/execute/threads/transaction_barriers.h"
#include "tracegen/execute/threads/warp_rendezvous.h"

namespace heddle::tracegen {

struct SplitWaits {
  // Both must outlive the object.
  SplitWaits(ThreadScheduler& threads, WarpRendezvous& warps) : transactions(threads, warps), cluster(threads, warps) {}

  void BeginBlock(uint32_t threads) {
    copies.BeginBlock(threads);
    transactions.BeginBlock();
    cluster.BeginBlock();
  }

  // Of a thread in state kAtPhase: where it waits, and for what.
  uint32_t SiteOf(uint32_t thread) const {
    return transactions.IsWaiting(thread) ? transactions.SiteOf(thread) : cluster.SiteOf(thread);
  }
  std::string Describe(uint32_t thread, const std::string& place) const {
    return transactions.IsWaiting(thread) ? transactions.Describe(thread, place)
                                          : "the barrier of the cluster at " + place;
  }

  AsyncCopies copies;
  TransactionBarriers transactions;
  ClusterBarrier cluster;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_SPLIT_WAITS_H_
