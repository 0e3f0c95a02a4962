// How thread blocks and warps get to the SMs of a launch.
#ifndef HEDDLE_REPLAY_ENGINE_GRID_DISPATCH_H_
#define HEDDLE_REPLAY_ENGINE_GRID_DISPATCH_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "replay/core/launch_context.h"
#include "replay/core/sm_core.h"
#include "replay/engine/dispatch/recorded_blocks.h"
#include "replay/engine/dispatch/round_control.h"
#include "replay/engine/dispatch/warp_dispatch_check.h"
#include "replay/engine/order/calendar.h"
#include "replay/engine/replay_launch.h"
#include "replay/engine/sm_array.h"
#include "replay/seams/block_dispatcher.h"

namespace heddle::replay {

// The dispatcher of a launch, held to the rules, and how far the grid has come.
class GridDispatch {
 public:
  // What is referred to must outlive the object. `shape`: what the dispatcher may know, but for how to ask for
  // instructions and SMs. An SM holds up to shape.blocks_per_sm blocks; with `beside` it is open to none before
  // SetOpen. The calendar's last component is the dispatcher, whose first round is that before cycle `begin`.
  GridDispatch(const LaunchRun& run, const LaunchContext& context, const RecordedBlocks& blocks, DispatchContext shape,
               Cycle begin, bool beside, SmArray& sms, Calendar& calendar);

  // A round of dispatch after the cycle before `first`: of whole blocks, or of warps. Errors: what the dispatcher did
  // against its rules, and those of reading the recording.
  absl::Status Round(Cycle first);
  // Whether there is to be a round when a block has retired, or a warp has ended.
  bool WantsRound() const {
    return left() != 0 && (context_.by_warp || control_.watches() || (grid_.room > 0 && !dispatcher_->done()));
  }
  // The `first` of the next round if nothing ends until then; kNever if there is none. The calendar has the cycle
  // before it, and perhaps earlier ones.
  Cycle due() const { return grid_.due; }
  // Whether the SM could get a whole block before it retires one.
  bool CanAssignTo(uint32_t sm) const { return occupancy_[sm].resident < capacity_ && !dispatcher_->done(); }
  // Whether the SM takes blocks from now on: for dispatchers of whole blocks that do not watch SMs. Returns whether
  // that is new.
  bool SetOpen(uint32_t sm, bool open) {
    SmOccupancy& one = occupancy_[sm];
    if (open == (one.capacity != 0)) return false;
    const auto room = static_cast<uint64_t>(capacity_ - one.resident);
    one.capacity = open ? capacity_ : 0;
    grid_.room = open ? grid_.room + room : grid_.room - room;
    return true;
  }

  // The block, by its position among the recorded ones, has left the SM.
  void Retired(uint32_t sm, uint64_t position) {
    dispatcher_->Retired(sm, position);
    --occupancy_[sm].resident;
    --grid_.resident;
    if (occupancy_[sm].capacity != 0) ++grid_.room;
    ++grid_.retired;
  }
  // Dispatch of warps: the hardware warp is free for warps that issue from cycle `first` on.
  void WarpEnded(uint32_t sm, uint32_t hw_warp, Cycle first) { dispatcher_->WarpEnded(sm, hw_warp, first); }

  // Whether it asks for the instructions of hardware warps, or for state that it shares with SMs, or watches SMs: then
  // no SM may be ahead of the others.
  bool asks() const { return asks_ || control_.watches(); }
  bool watches_sms() const { return control_.watches(); }
  // Whether the last block of the grid has been given away.
  bool grid_assigned() const { return grid_.assigned; }
  // Blocks that have retired; those that have not.
  uint64_t retired() const { return grid_.retired; }
  uint64_t left() const { return blocks_.count() - grid_.retired; }
  // Dispatchers of whole blocks: those that have not been sent.
  uint64_t unsent() const { return left() - grid_.resident; }
  // For which cycle the first one was sent; kNever if none has been.
  Cycle first_block() const { return grid_.first_block; }
  std::span<const uint64_t> counters() const { return dispatcher_->counters(); }

 private:
  absl::StatusOr<BlockArrival> ArrivalOf(uint64_t position);
  absl::Status AssignBlocks(Cycle first);
  // What is wrong with sending the block to the SM, as words behind that; empty if nothing is.
  std::string WhatIsWrong(const Assignment& assignment) const;
  std::string WhatIsWrongWithCluster(uint32_t sm, uint64_t block) const;
  absl::Status AssignWarps(Cycle first);
  // Whether the machine starts no further block in a cycle in which so many have started.
  bool IsFull(uint32_t started) const;
  // When the next round is, behind the one before cycle `first`, in which a block of several has been sent or not, and
  // which has sent as many as the machine starts or not.
  void SetDue(Cycle first, bool any, bool full);

  const LaunchRun& run_;
  const LaunchContext& context_;
  const RecordedBlocks& blocks_;
  SmArray& sms_;
  Calendar& calendar_;
  std::unique_ptr<BlockDispatcher> dispatcher_;
  const int capacity_;  // blocks that an SM holds
  std::vector<SmOccupancy> occupancy_;
  std::unique_ptr<bool[]> accepted_;
  std::vector<bool> sent_;               // by block; where whole blocks are sent
  std::vector<uint32_t> begun_cluster_;  // SMs of the blocks that were sent of a cluster that is not complete
  bool asks_ = false;
  struct {
    uint64_t room = 0;  // blocks that would still fit
    uint64_t resident = 0;
    uint64_t retired = 0;
    Cycle due = 0;  // GridDispatch::due
    Cycle first_block = kNever;
    bool assigned = false;
  } grid_;
  RoundControl control_;
  WarpDispatchCheck warp_check_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_ENGINE_GRID_DISPATCH_H_
