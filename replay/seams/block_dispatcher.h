// The third seam: which thread block, or which warp of one, enters which SM, and when.
//
// To add a dispatcher: write replay/policies/dispatch/NAME.cc with a class that derives from BlockDispatcher and one
// HEDDLE_BLOCK_DISPATCHER registration. Nothing else is edited.
#ifndef HEDDLE_REPLAY_SEAMS_BLOCK_DISPATCHER_H_
#define HEDDLE_REPLAY_SEAMS_BLOCK_DISPATCHER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "replay/seams/policy_origin.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/shared_state.h"
#include "replay/seams/sm_activity.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// What a dispatcher sees of an SM.
struct SmOccupancy {
  int resident = 0;  // blocks on the SM
  int capacity = 0;  // the most that fit, from the occupancy rule
};

// Which recorded block goes to which SM.
struct Assignment {
  uint32_t sm = 0;
  uint64_t block = 0;  // among the recorded blocks of the launch, from 0, in the order of DispatchContext
  // Of the SM's DispatchContext::blocks_per_sm, a free one, from 0: warp w of the block gets hardware warp
  // place * warps_per_block + w. Without it the lowest free place.
  std::optional<uint32_t> place = {};
};

// Which warp of a recorded block goes to which hardware warp of an SM. The block enters with the
// first of its warps; its barriers wait for those that have not come yet as well.
struct WarpAssignment {
  uint32_t sm = 0;
  uint64_t block = 0;         // as in Assignment
  uint32_t warp = 0;          // of the block, from 0
  uint32_t hw_warp = 0;       // free: never used, or WarpEnded has told
  uint32_t instructions = 0;  // that the warp issues before those of the trace
  // The block is what virtual thread block `place` of the SM runs in its iteration `iteration`, from 0; at most two
  // iterations of one place are under way at once. In each a hardware warp of the place takes exactly one warp, so that
  // it has had `iteration` before; it keeps its age and its scheduler; and until all warps of an iteration have ended,
  // those of the next one may not access shared memory.
  struct Virtual {
    uint32_t place = 0;
    uint64_t iteration = 0;
  };
  std::optional<Virtual> virtual_block;
};

// The SMs, for a dispatcher that watches them (BlockDispatcher::watches_sms). Only in a round: in BeginRound, Next and
// NextWarp. It shows what was counted in the cycles before the round's `first`, and what it says holds from `first` on.
// A call that is against the rules ends the run with an error that names the dispatcher.
class SmControl {
 public:
  // An SM that has not had a block yet has done nothing.
  virtual SmActivity Activity(uint32_t sm) = 0;
  virtual SmWarps Warps(uint32_t sm) = 0;
  virtual SmMemoryLoad MemoryLoad(uint32_t sm) = 0;
  // The first of the neighbouring hardware warps that a resident block of a dispatcher of whole blocks has got.
  virtual uint32_t FirstHwWarp(uint32_t sm, uint64_t block) = 0;
  // A resident block issues nothing until it is resumed, or the other way round. What it has issued ends, and it keeps
  // its place, its registers and its shared memory. Its warps are not fetched for either. A warp belongs to
  // WarpTable::block. Refused: a block that is not on the SM, is paused already, or is not paused.
  virtual void Pause(uint32_t sm, uint64_t block) = 0;
  virtual void Resume(uint32_t sm, uint64_t block) = 0;

 protected:
  ~SmControl() = default;
};

// One instance per launch. It decides in rounds what enters: behind a cycle in which a block has retired or a warp has
// ended (PolicyTraits::warp_dispatch), and when NextFirst says. What a round decides holds from its `first` on, the
// cycle behind that one. There are none when the last block has retired and, but for dispatchers that
// watch SMs or give single warps, when nothing is left to assign or no SM has room.
class BlockDispatcher {
 public:
  static constexpr char kSeam[] = "dispatch";
  static constexpr char kKind[] = "dispatcher";

  virtual ~BlockDispatcher() = default;

  // Whether it uses DispatchContext::control: then no SM is ahead of the others in time. Always the same answer.
  virtual bool watches_sms() const { return false; }
  // A round begins, before Next or NextWarp is asked.
  virtual void BeginRound(Cycle /*first*/) {}
  // The `first` of the next round that it wants whatever ends until then; kNever if none. Asked at the end of a round.
  // A value that is over, such as the usual 0, asks for the next cycle, for a dispatcher of whole blocks as long as
  // blocks are left and some SM has room.
  virtual Cycle NextFirst() const { return 0; }

  // Dispatchers of whole blocks: the next assignment of this cycle, or nullopt if there is none (any more). Asked while
  // blocks are left and some SM has room; each block is sent once. `accepted` marks the SMs that have taken a block in
  // this cycle already: they take no other in it, but for blocks of the same cluster. The blocks of a cluster follow
  // one another by rank, in one cycle, on SMs of one group, and at most MostOnSm of them on one SM.
  virtual std::optional<Assignment> Next(std::span<const SmOccupancy> /*sms*/, std::span<const bool> /*accepted*/) {
    return std::nullopt;
  }

  // Dispatchers of single warps (PolicyTraits::warp_dispatch): the next warp that may issue from cycle `first` on, or
  // nullopt if there is none (any more). Blocks of a cluster come whole, all in one cycle on SMs of one group, or all
  // of them, warp by warp, to virtual blocks of one cluster that did, each to that of its rank.
  virtual std::optional<WarpAssignment> NextWarp(Cycle /*first*/) { return std::nullopt; }
  // A warp has ended, and its hardware warp is free for warps that issue from cycle `first` on.
  virtual void WarpEnded(uint32_t /*sm*/, uint32_t /*hw_warp*/, Cycle /*first*/) {}

  virtual void Retired(uint32_t /*sm*/, uint64_t /*block*/) {}
  virtual bool done() const = 0;  // nothing of the grid is left to assign
  virtual std::span<const uint64_t> counters() const { return {}; }
};

// The most blocks of a cluster that an SM takes, of a group of so many SMs: they are spread as widely as they can be.
constexpr uint32_t MostOnSm(uint32_t cluster_blocks, uint32_t group_sms) {
  return (cluster_blocks + group_sms - 1) / group_sms;
}

struct DispatchContext {
  // Recorded blocks of the launch. They count cluster by cluster: rank r of cluster c is c * cluster_blocks + r.
  uint64_t blocks = 0;
  uint32_t cluster_blocks = 1;
  uint32_t sms = 1;
  uint32_t cluster_sms = 1;  // neighbouring SMs among which a cluster goes; the last such group may be smaller
  uint32_t warps_per_block = 1;
  uint32_t blocks_per_sm = 1;          // that fit, from the occupancy rule
  uint32_t partial_blocks_per_sm = 1;  // that fit if their warps come one by one
  uint32_t hw_warps_per_sm = 1;        // hardware warps with registers for a warp
  uint32_t extra_dimensions = 0;       // of grid and block, beyond the first of each
  uint32_t data_mshrs = 0;             // of an SM's data cache; 0 without one
  // Instructions that the present or last warp of a hardware warp has issued until now; 0 under
  // divergence policies without static warps. A dispatcher that wants to ask keeps a copy, and no SM is then ahead of
  // the others in time.
  std::function<uint64_t(uint32_t sm, uint32_t hw_warp)> instructions;
  // The cycle behind which it decides, in every call but the factory; it lives as long as the dispatcher.
  const Cycle* clock = nullptr;
  // The SMs, for a dispatcher that watches them; it lives as long as the dispatcher.
  SmControl* control = nullptr;
  MachineShared shared = {};  // with policies of the SMs
};

using DispatchRegistry = PolicyRegistry<BlockDispatcher, DispatchContext>;

#define HEDDLE_BLOCK_DISPATCHER(...)                                                                        \
  HEDDLE_REGISTER_AT_SEAM("dispatch", ::heddle::replay::BlockDispatcher, ::heddle::replay::DispatchContext, \
                          ::heddle::replay::DispatchRegistry, __VA_ARGS__)

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_BLOCK_DISPATCHER_H_
