#include "replay/engine/grid_dispatch.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/engine/policy_watch.h"
#include "replay/machine/machine.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {

GridDispatch::GridDispatch(const LaunchRun& run, const LaunchContext& context, const RecordedBlocks& blocks,
                           DispatchContext shape, Cycle begin, bool beside, SmArray& sms, Calendar& calendar)
    : run_(run),
      context_(context),
      blocks_(blocks),
      sms_(sms),
      calendar_(calendar),
      capacity_(static_cast<int>(shape.blocks_per_sm)),
      occupancy_(sms.count(), {0, beside ? 0 : capacity_}),
      accepted_(std::make_unique<bool[]>(sms.count())),
      grid_{.room = beside ? 0 : uint64_t{shape.blocks_per_sm} * sms.count(), .due = begin},
      control_(run.configuration.dispatch.name(), context.by_warp,
               {sms.count(), [&sms](uint32_t sm) { return sms.Find(sm); },
                [&calendar](uint32_t sm, Cycle at) { calendar.Wake(sm, at); }}),
      warp_check_(shape) {
  if (!context.by_warp) sent_.resize(blocks.count());
  const auto copies = std::make_shared<bool>();
  shape.instructions = [&sms, &context, copies](uint32_t sm, uint32_t hw_warp) {
    const bool is_there = sm < sms.count() && hw_warp < static_cast<uint32_t>(context.max_threads / context.warp_size);
    const SmCore* const core = is_there ? sms.Find(sm) : nullptr;
    return core == nullptr ? 0 : core->InstructionsOfHwWarp(hw_warp);
  };
  shape.shared = MachineShared(run.shared);
  shape.control = &control_;
  const auto own_copies = copies.use_count();
  WatchedPolicy* watched = nullptr;
  dispatcher_ = MakeWatched(run.configuration.dispatch, shape, -1, watched);
  asks_ = copies.use_count() > own_copies;
  asks_ |= run.shared.EndOfDispatchersFactory();
  control_.SetWatches(dispatcher_->watches_sms());
}

absl::StatusOr<BlockArrival> GridDispatch::ArrivalOf(uint64_t position) {
  BlockArrival arrival;
  arrival.position = position;
  arrival.place = blocks_.PlaceOf(position);
  arrival.recorded = blocks_.At(position);
  HEDDLE_ASSIGN_OR_RETURN(const trace::DecodedChunk* chunk,
                          run_.cache.Peek(run_.launch.chunks[arrival.recorded.chunk]));
  arrival.linear_index = chunk->blocks[arrival.recorded.place];
  return arrival;
}

absl::Status GridDispatch::Round(Cycle first) {
  control_.Begin(first);
  dispatcher_->BeginRound(first);
  absl::Status status = control_.status();
  if (status.ok()) status = context_.by_warp ? AssignWarps(first) : AssignBlocks(first);
  control_.End();
  if (!grid_.assigned && dispatcher_->done()) {
    grid_.assigned = true;
    for (const auto& sm : sms_.made()) sm->GridAssigned();
  }
  return status.ok() ? control_.status() : status;
}

bool GridDispatch::IsFull(uint32_t started) const {
  const uint32_t most = run_.options.machine.dispatch().blocks_per_cycle();
  return most != 0 && started >= most && begun_cluster_.empty();
}

void GridDispatch::SetDue(Cycle first, bool any, bool full) {
  grid_.due = kNever;
  const bool goes_on = full && grid_.room > 0 && !dispatcher_->done();
  const Cycle next = goes_on ? first + 1 : dispatcher_->NextFirst();
  if (next == kNever) return;
  if (next <= first && !context_.by_warp) {
    // Room that no cluster fits into is there until a block retires.
    const bool could = grid_.room > 0 && !dispatcher_->done() && (any || context_.cluster_blocks == 1);
    if (!could) return;
  }
  grid_.due = std::max(next, first + 1);
  calendar_.Wake(sms_.count(), grid_.due - 1);
}

std::string GridDispatch::WhatIsWrong(const Assignment& assignment) const {
  const auto& [sm, block, place] = assignment;
  if (sm >= sms_.count()) return absl::StrCat(", but the machine has ", sms_.count(), " SMs");
  if (block >= blocks_.count()) return absl::StrCat(", but the launch has ", blocks_.count(), " blocks");
  if (sent_[block]) return ", but had sent that block before";
  if (occupancy_[sm].resident >= occupancy_[sm].capacity) return ", which has no room";
  if (place.has_value() && static_cast<int>(*place) >= occupancy_[sm].capacity) {
    return absl::StrCat(", to place ", *place, " of ", occupancy_[sm].capacity);
  }
  if (place.has_value() && sms_.At(sm).HasBlockAt(static_cast<BlockId>(*place))) {
    return absl::StrCat(", to place ", *place, ", which is taken");
  }
  if (context_.cluster_blocks > 1) return WhatIsWrongWithCluster(sm, block);
  return accepted_[sm] ? ", which has taken a block in this cycle" : "";
}

std::string GridDispatch::WhatIsWrongWithCluster(uint32_t sm, uint64_t block) const {
  const uint32_t group = ClusterGroup(run_.options.machine);
  if (block % context_.cluster_blocks != begun_cluster_.size() || (!begun_cluster_.empty() && !sent_[block - 1])) {
    return ", but the blocks of a cluster follow one another by rank";
  }
  if (!begun_cluster_.empty() && begun_cluster_.front() / group != sm / group) {
    return ", which is not of the group of SMs that has its cluster";
  }
  const auto on_sm = static_cast<uint32_t>(std::count(begun_cluster_.begin(), begun_cluster_.end(), sm));
  if (on_sm == 0) return accepted_[sm] ? ", which has taken a block of another cluster in this cycle" : "";
  const uint32_t first = sm / group * group;
  const uint32_t most = MostOnSm(context_.cluster_blocks, std::min(group, sms_.count() - first));
  return on_sm >= most ? absl::StrCat(", which has ", on_sm, " blocks of that cluster already") : "";
}

absl::Status GridDispatch::AssignBlocks(Cycle first) {
  const std::span<const bool> accepted(accepted_.get(), sms_.count());
  std::fill_n(accepted_.get(), sms_.count(), false);
  bool any = false;
  uint32_t started = 0;
  while (grid_.room > 0 && !dispatcher_->done() && !IsFull(started)) {
    const std::optional<Assignment> assignment = dispatcher_->Next(occupancy_, accepted);
    if (!control_.status().ok()) return control_.status();
    if (!assignment.has_value()) break;
    const uint32_t sm = assignment->sm;
    const uint64_t block = assignment->block;
    if (const std::string wrong = WhatIsWrong(*assignment); !wrong.empty()) {
      return absl::InternalError(absl::StrCat("the dispatcher sent block ", block, " to SM ", sm, wrong));
    }
    any = true;
    ++started;
    sent_[block] = true;
    begun_cluster_.push_back(sm);
    if (begun_cluster_.size() == context_.cluster_blocks) begun_cluster_.clear();
    HEDDLE_ASSIGN_OR_RETURN(BlockArrival arrival, ArrivalOf(block));
    arrival.place_on_sm = assignment->place;
    accepted_[sm] = true;
    ++occupancy_[sm].resident;
    ++grid_.resident;
    --grid_.room;
    grid_.first_block = std::min(grid_.first_block, first);
    SmCore& core = sms_.At(sm);
    core.Admit(arrival, first);
    if (!core.ok()) return core.status();
    calendar_.Wake(sm, first);
  }
  if (!begun_cluster_.empty()) {
    return absl::InternalError(absl::StrCat("the dispatcher sent ", begun_cluster_.size(), " of the ",
                                            context_.cluster_blocks, " blocks of a cluster without the others"));
  }
  SetDue(first, any, IsFull(started));
  if (grid_.resident == 0 && grid_.room > 0 && !dispatcher_->done() &&
      (grid_.due == kNever || dispatcher_->NextFirst() <= first)) {
    return absl::InternalError(
        absl::StrCat("the dispatcher leaves ", left(), " thread blocks undone though every SM has room"));
  }
  return absl::OkStatus();
}

absl::Status GridDispatch::AssignWarps(Cycle first) {
  while (const std::optional<WarpAssignment> assignment = dispatcher_->NextWarp(first)) {
    if (!control_.status().ok()) return control_.status();
    const uint32_t sm = assignment->sm;
    const bool is_there = sm < sms_.count() && assignment->block < blocks_.count() &&
                          assignment->warp < context_.hw_warps_per_block &&
                          sms_.At(sm).HwWarpIsFree(assignment->hw_warp);
    const std::string wrong = is_there ? warp_check_.Take(*assignment) : ": there is no such warp or no such free row";
    if (!wrong.empty()) {
      return absl::InternalError(absl::StrCat("the dispatcher sent warp ", assignment->warp, " of block ",
                                              assignment->block, " to row ", assignment->hw_warp, " of SM ", sm,
                                              wrong));
    }
    HEDDLE_ASSIGN_OR_RETURN(const BlockArrival arrival, ArrivalOf(assignment->block));
    WarpArrival warp;
    warp.block = arrival;
    warp.warp = assignment->warp;
    warp.hw_warp = assignment->hw_warp;
    warp.instructions = assignment->instructions;
    if (assignment->virtual_block.has_value()) {
      warp.virtual_block = {assignment->virtual_block->place, assignment->virtual_block->iteration};
    }
    SmCore& core = sms_.At(sm);
    core.AdmitWarp(warp, first);
    if (!core.ok()) return core.status();
    calendar_.Wake(sm, first);
  }
  if (const std::string wrong = warp_check_.EndRound(); !wrong.empty()) {
    return absl::InternalError(absl::StrCat("the dispatcher sent ", wrong));
  }
  SetDue(first, /*any=*/false, /*full=*/false);
  return absl::OkStatus();
}

}  // namespace heddle::replay
