// What threads begin at one instruction and wait for at another: copies, phases of transaction barriers, the cluster's
// barrier.
#ifndef HEDDLE_TRACEGEN_EXECUTE_THREADS_SPLIT_WAITS_H_
#define HEDDLE_TRACEGEN_EXECUTE_THREADS_SPLIT_WAITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracegen/execute/threads/async_copies.h"
#include "tracegen/execute/threads/cluster_barrier.h"
#include "tracegen/execute/threads/thread_scheduler.h"
#include "tracegen/execute/threads/transaction_barriers.h"
#include "tracegen/execute/threads/warp_rendezvous.h"

namespace heddle::tracegen {

struct SplitWaits;

// The blocks of a cluster, which are live at once.
struct LiveCluster {
  ClusterPhase phase;
  std::vector<SplitWaits*> blocks;  // by rank
};

struct SplitWaits {
  // Both must outlive the object.
  SplitWaits(ThreadScheduler& threads, WarpRendezvous& warps) : transactions(threads, warps), cluster(threads, warps) {}

  void BeginBlock(uint32_t threads) {
    copies.BeginBlock(threads);
    transactions.BeginBlock();
    cluster.BeginBlock();
    live = nullptr;
  }
  // The block, which has begun, is one of these from here on. `all` must outlive it.
  void Join(LiveCluster& all) {
    live = &all;
    cluster.Join(all.phase);
    all.blocks.push_back(this);
  }

  // TransactionBarriers::Apply, also for barriers of other blocks of the cluster, where threads may only arrive.
  std::string Transact(Transaction operation, uint64_t address, uint32_t number, uint64_t* before);
  // Why a thread may not wait there, `own` as OwnAddress gives it; empty if it may.
  std::string WhyNoWait(uint64_t own) const;
  // The address in the block's own window of what lies in its own share of the cluster's.
  uint64_t OwnAddress(uint64_t address) const;

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
  LiveCluster* live = nullptr;  // null: the block is a cluster of its own
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_THREADS_SPLIT_WAITS_H_
