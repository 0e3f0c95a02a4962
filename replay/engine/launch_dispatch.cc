// How thread blocks and warps get to the SMs of a launch.
#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "replay/engine/launch_simulation.h"
#include "traces/base/status_macros.h"

namespace heddle::replay {

absl::StatusOr<BlockArrival> LaunchSimulation::ArrivalOf(uint64_t position) {
  BlockArrival arrival;
  arrival.position = position;
  arrival.recorded = blocks_.At(position);
  HEDDLE_ASSIGN_OR_RETURN(const trace::DecodedChunk* chunk,
                          run_.cache.Peek(run_.launch.chunks[arrival.recorded.chunk]));
  arrival.linear_index = chunk->blocks[arrival.recorded.place];
  return arrival;
}

absl::Status LaunchSimulation::Dispatch(Cycle first) {
  const absl::Status status = context_.by_warp ? DispatchWarps(first) : DispatchBlocks(first);
  if (!grid_assigned_ && dispatcher_->done()) {
    grid_assigned_ = true;
    for (const auto& sm : sms_) sm->GridAssigned();
  }
  return status;
}

absl::Status LaunchSimulation::DispatchBlocks(Cycle first) {
  const std::span<const bool> accepted(accepted_.get(), sm_count_);
  std::fill_n(accepted_.get(), sm_count_, false);
  while (room_ > 0) {
    const std::optional<Assignment> assignment = dispatcher_->Next(occupancy_, accepted);
    if (!assignment.has_value()) break;
    const uint32_t sm = assignment->sm;
    const uint64_t block = assignment->block;
    const auto wrong = [&](const auto&... why) {
      return absl::InternalError(absl::StrCat("the dispatcher sent block ", block, " to SM ", sm, why...));
    };
    if (sm >= sm_count_) return wrong(", but the machine has ", sm_count_, " SMs");
    if (block >= blocks_.count()) return wrong(", but the launch has ", blocks_.count(), " blocks");
    if (sent_[block]) return wrong(", but had sent that block before");
    if (accepted_[sm]) return wrong(", which has taken a block in this cycle");
    if (occupancy_[sm].resident >= occupancy_[sm].capacity) return wrong(", which has no room");
    sent_[block] = true;
    HEDDLE_ASSIGN_OR_RETURN(const BlockArrival arrival, ArrivalOf(block));
    accepted_[sm] = true;
    ++occupancy_[sm].resident;
    ++resident_;
    --room_;
    SmCore& core = SmAt(sm);
    core.Admit(arrival, first);
    if (!core.ok()) return core.status();
    calendar_.Wake(sm, first);
  }
  if (dispatcher_->done()) return absl::OkStatus();
  if (resident_ == 0) {
    return absl::InternalError(absl::StrCat("the dispatcher leaves ", blocks_.count() - retired_,
                                            " thread blocks undone though every SM has room"));
  }
  if (room_ > 0) calendar_.Wake(sm_count_, first);
  return absl::OkStatus();
}

absl::Status LaunchSimulation::DispatchWarps(Cycle first) {
  while (const std::optional<WarpAssignment> assignment = dispatcher_->NextWarp(first)) {
    const uint32_t sm = assignment->sm;
    if (sm >= sm_count_ || assignment->block >= blocks_.count() || assignment->warp >= context_.rows_per_block ||
        !SmAt(sm).RowIsFree(assignment->row)) {
      return absl::InternalError(absl::StrCat("the dispatcher sent warp ", assignment->warp, " of block ",
                                              assignment->block, " to row ", assignment->row, " of SM ", sm,
                                              ": there is no such warp or no such free row"));
    }
    HEDDLE_ASSIGN_OR_RETURN(const BlockArrival arrival, ArrivalOf(assignment->block));
    WarpArrival warp;
    warp.block = arrival;
    warp.warp = assignment->warp;
    warp.row = assignment->row;
    warp.instructions = assignment->instructions;
    if (assignment->virtual_block.has_value()) {
      warp.virtual_block = {assignment->virtual_block->place, assignment->virtual_block->iteration};
    }
    SmCore& core = SmAt(sm);
    core.AdmitWarp(warp, first);
    if (!core.ok()) return core.status();
    calendar_.Wake(sm, first);
  }
  if (const Cycle next = dispatcher_->NextFirst(); next != kNever) calendar_.Wake(sm_count_, std::max(next - 1, first));
  return absl::OkStatus();
}

}  // namespace heddle::replay
