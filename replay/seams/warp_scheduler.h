// The second seam: which of the eligible warps issues.
//
// To add a scheduler: write replay/policies/schedule/NAME.cc with a class that derives from WarpScheduler and one
// HEDDLE_WARP_SCHEDULER registration. Nothing else is edited.
#ifndef HEDDLE_REPLAY_SEAMS_WARP_SCHEDULER_H_
#define HEDDLE_REPLAY_SEAMS_WARP_SCHEDULER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "replay/seams/issue_view.h"
#include "replay/seams/policy_origin.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/shared_state.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_table.h"
#include "traces/format/program/program.h"

namespace heddle::replay {

// A miss or an eviction in a cache of the SM, for schedulers that watch locality.
struct CacheNotice {
  enum class Kind : uint8_t { kMiss, kEviction } kind = Kind::kMiss;
  SlotId slot = kNoSlot;  // the warp that missed, or that had fetched the evicted line
  uint64_t line_address = 0;
};

// One instance per issue port, SM and launch. The core decides eligibility; a scheduler only orders. It must be a
// deterministic function of its calls.
class WarpScheduler {
 public:
  static constexpr char kSeam[] = "scheduler";
  static constexpr char kKind[] = "scheduler";

  virtual ~WarpScheduler() = default;

  // The slot to issue among `eligible`, which is not empty and holds only slots of this port, all of the same priority;
  // kNoSlot if the policy lets none of them issue in this cycle. Has no side effects, so that fetch may ask the same
  // question.
  virtual SlotId Pick(const SlotSet& eligible) const = 0;

  // How urgent the scheduler finds a thread block, for fetch policies that serve several ports; larger is more urgent.
  virtual uint64_t Urgency(BlockId /*block*/) const { return 0; }

  // The picked slot issued; it is in flight now.
  virtual void Issued(SlotId /*slot*/) {}
  // Whether IssuedOnSm is wanted.
  virtual bool watches_sm() const { return false; }
  // A slot of the SM, of any port, issues an instruction of the trace; before or after Issued.
  virtual void IssuedOnSm(SlotId /*slot*/) {}
  // A slot of this port became issuable / lost lanes or gained lanes while offered / was withdrawn without being
  // issued.
  virtual void Offered(SlotId /*slot*/) {}
  virtual void Grown(SlotId /*slot*/, const Lanes& /*joined*/) {}
  virtual void Withdrawn(SlotId /*slot*/) {}
  virtual void BlockAdmitted(BlockId /*block*/, uint64_t /*sequence*/) {}
  // The block is what virtual thread block `place` of the SM runs in its iteration `iteration`, from 0: its warps take
  // over, one by one, from those of the iteration before. Comes behind BlockAdmitted.
  virtual void VirtualBlock(BlockId /*block*/, uint32_t /*place*/, uint64_t /*iteration*/) {}
  // Warps of the block are on the SM from now on, in hardware warps: all of them with the block, or
  // one by one under dispatchers that give single warps.
  virtual void WarpsAdmitted(BlockId /*block*/, uint32_t /*first_hw_warp*/, uint32_t /*hw_warps*/) {}
  virtual void BlockRetired(BlockId /*block*/) {}
  // Whether GridAssigned changes what it does: then no SM is ahead of the others in time when the grid is assigned.
  virtual bool watches_grid() const { return false; }
  // The dispatcher has given away the last block of the grid: no SM gets another one.
  virtual void GridAssigned() {}
  // A slot of the SM, of any port, arrived at a barrier; its lanes are still those that arrived.
  virtual void BarrierArrived(SlotId /*slot*/) {}
  virtual void BarrierReleased(BlockId /*block*/) {}
  // A static warp of the block has no live thread left.
  virtual void WarpExited(BlockId /*block*/) {}
  // The slot's next instruction has to wait for memory beyond the core / no longer waits.
  virtual void LongLatencyStarted(SlotId /*slot*/) {}
  virtual void LongLatencyEnded(SlotId /*slot*/) {}
  // Whether SchedulerContext::view is asked; only then are its answers true in every cycle.
  virtual bool asks_what_slots_lack() const { return false; }
  // Whether CacheEvent is wanted.
  virtual bool watches_caches() const { return false; }
  virtual void CacheEvent(const CacheNotice& /*notice*/) {}

  virtual std::span<const uint64_t> counters() const { return {}; }

  // For policies that issue many warps together (MIMD): what Pick would return one after the other if each slot left
  // `eligible` when it has been picked, whether it issues then or not. Writes to `order` as many of these slots as fit
  // and as the scheduler knows without having been told of the issues; returns how many. 0: in this issue it has to be
  // asked each time.
  virtual size_t PickInOrder(const SlotSet& /*eligible*/, std::span<SlotId> /*order*/) const { return 0; }
  // For the same: Issued of slots that PickInOrder has named, and Offered, one after the other. All of `slots` are in
  // flight, or offered, already. A scheduler that overrides these as well as Issued and Offered does the same in both.
  virtual void IssuedInOrder(std::span<const SlotId> slots) {
    for (const SlotId slot : slots) Issued(slot);
  }
  virtual void OfferedInOrder(std::span<const SlotId> slots) {
    for (const SlotId slot : slots) Offered(slot);
  }
};

struct SchedulerContext {
  const WarpTable& table;  // of the SM, lives as long as the scheduler
  const trace::Program& program;
  int warp_size;
  int max_threads;  // hardware threads of the SM
  int max_blocks;
  int port;
  int ports;
  const Cycle* clock = nullptr;  // the present cycle; null: time stands still
  SmShared shared = {};          // with other policies of the SM, those of other ports included
  // What slots lack to issue, for schedulers that say so (asks_what_slots_lack); null: nobody knows. Lives as the
  // table.
  const IssueView* view = nullptr;
};

using SchedulerRegistry = PolicyRegistry<WarpScheduler, SchedulerContext>;

#define HEDDLE_WARP_SCHEDULER(...)                                                                          \
  HEDDLE_REGISTER_AT_SEAM("scheduler", ::heddle::replay::WarpScheduler, ::heddle::replay::SchedulerContext, \
                          ::heddle::replay::SchedulerRegistry, __VA_ARGS__)

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_WARP_SCHEDULER_H_
