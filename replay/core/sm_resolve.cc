// Where the threads of a slot go on when its instruction is done, and what the policy says to it.
#include <bit>

#include "absl/strings/str_cat.h"
#include "replay/core/sm_core.h"
#include "replay/stats/instruction_profile.h"

namespace heddle::replay {

template <typename Function>
void SmCore::ForEachRowRun(const Lanes& lanes, LaneMask mask, Function function) const {
  const auto warp_size = static_cast<uint32_t>(context_.warp_size);
  while (mask != 0) {
    const uint32_t row = lanes.thread[std::countr_zero(mask)] / warp_size;
    LaneMask rest = 0;
    if (!context_.static_warps) {
      rest = mask & (mask - 1);
      while (rest != 0 && lanes.thread[std::countr_zero(rest)] / warp_size == row) rest &= rest - 1;
    }
    function(row, mask & ~rest);
    mask = rest;
  }
}

bool SmCore::FinishInstruction(SlotId slot, bool ask_after_barrier) {
  const WarpTable& table = formation_.table();
  const Position at = table.position[slot];
  const Step& step = steps_[at.pc()];
  PathGroups& paths = pending_.paths;
  ResolveReason reason = ResolveReason::kBarrier;
  if (!step.ends_block) {
    const Position next(at.pc() + 1, at.depth());
    const bool stopped = next == table.stop[slot];
    if (!ask_after_barrier) {
      if (!stopped && (interests_ & kEveryInstruction) == 0) {
        formation_.Advance(slot, next);
        return true;
      }
      reason = stopped ? ResolveReason::kStop : ResolveReason::kInstruction;
    }
    paths.SetOne(next, table.lanes[slot].mask);
  } else {
    const trace::Block& block = context_.program.block(step.block);
    control_flow_.Next(table.lanes[slot], at, block, paths);
    if (!ask_after_barrier) {
      reason = ResolveReason::kControl;
      if (paths.count == 1 && paths.exited == 0) {
        const Position next = paths.group[0].at;
        if (next == table.stop[slot]) {
          reason = ResolveReason::kStop;
        } else if ((interests_ & (kEveryInstruction | kEveryBlockEnd)) == 0) {
          formation_.Advance(slot, next);
          return true;
        } else if (!ControlFlow::Decides(block.terminator)) {
          reason = ResolveReason::kBlockEnd;
        }
      }
    }
  }
  pending_.lanes = table.lanes[slot];
  return Resolve(slot, reason, /*take=*/false);
}

bool SmCore::TakeLanes(SlotId slot, LaneMask taken) {
  const Position at = formation_.table().position[slot];
  const Step& step = steps_[at.pc()];
  pending_.lanes = formation_.table().lanes[slot];
  pending_.lanes.mask &= taken;
  if (step.ends_block) {
    control_flow_.Next(pending_.lanes, at, context_.program.block(step.block), pending_.paths);
  } else {
    pending_.paths.SetOne(Position(at.pc() + 1, at.depth()), pending_.lanes.mask);
  }
  return Resolve(slot, ResolveReason::kLanes, /*take=*/true);
}

// pending_.lanes and pending_.paths are set.
bool SmCore::Resolve(SlotId slot, ResolveReason reason, bool take) {
  const Position at = formation_.table().position[slot];
  const Step& step = steps_[at.pc()];
  const LaneMask exited = pending_.paths.exited;
  Resolution& resolution = pending_.resolution;
  resolution.slot = slot;
  resolution.from = at;
  resolution.reason = reason;
  resolution.groups = pending_.paths.live();
  resolution.exited = exited;
  resolution.lanes = &pending_.lanes;
  resolution.reconvergence = Position::Exit();
  resolution.conditional = false;
  resolution.uniform = step.uniform;
  if (step.ends_block) {
    const trace::Block& block = context_.program.block(step.block);
    resolution.conditional = ControlFlow::Decides(block.terminator);
    if (resolution.conditional) {
      resolution.reconvergence = control_flow_.Reconvergence(pending_.lanes, at, block);
    }
  }
  if (context_.profile != nullptr && resolution.groups.size() + (exited != 0) > 1) context_.profile->Split(at.pc());
  pending_.take = take;
  resolve_waits_ = true;
  if (take) {
    formation_.BeginTake(slot, pending_.lanes.mask, resolution.groups, exited);
  } else {
    formation_.BeginResolve(slot, resolution.groups, exited);
  }
  if (exited != 0) ExitThreads(slot, pending_.lanes, exited);
  return AskPolicy();
}

bool SmCore::AskPolicy() {
  const Resolution& resolution = pending_.resolution;
  if (policy_->Resolve(resolution, formation_.editor()) == Verdict::kRefused) return false;
  resolve_waits_ = false;
  last_progress_ = now_;
  if (pending_.take) {
    formation_.EndTake(pending_.lanes);
  } else {
    formation_.EndResolve(resolution.slot, pending_.lanes);
  }
  ForEachRowRun(pending_.lanes, resolution.exited, [&](uint32_t row, LaneMask) {
    const BlockId id = block_of_row_[row];
    if (blocks_[id].live != 0 || blocks_[id].exited) return;
    blocks_[id].exited = true;
    if (context_.by_warp) ReleaseShared(id);
    BlockExited(id);
  });
  return true;
}

void SmCore::ExitThreads(SlotId slot, const Lanes& lanes, LaneMask exited) {
  warp_progress_.Exited(lanes, exited, now_, Stalls(), [this](BlockId block) {
    for (const auto& scheduler : schedulers_) scheduler->WarpExited(block);
  });
  exited_threads_ += static_cast<uint64_t>(std::popcount(exited));
  ForEachRowRun(lanes, exited, [&](uint32_t row, LaneMask own) {
    const auto threads = static_cast<uint32_t>(std::popcount(own));
    blocks_[block_of_row_[row]].live -= threads;
    live_in_row_[row] = static_cast<uint16_t>(live_in_row_[row] - threads);
    if (live_in_row_[row] == 0) RowExited(slot, row);
  });
  if (const LaneMask early = exited & ~cursors_.Finish(lanes, exited); early != 0 && cursors_.ok()) {
    const ThreadId thread = lanes.thread[std::countr_zero(early)];
    Fail(absl::InternalError(absl::StrCat("thread ", formation_.index_in_block(thread), " of block ",
                                          blocks_[formation_.block_of(thread)].linear_index,
                                          " exited before the end of its recording")));
  }
  BlockId checked = kNoBlock;
  ForEachRowRun(lanes, exited, [&](uint32_t row, LaneMask) {
    if (block_of_row_[row] == checked) return;
    checked = block_of_row_[row];
    CheckBarriers(checked);
  });
}

}  // namespace heddle::replay
