#include "replay/core/resolve_unit.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "replay/seams/lane_mask.h"
#include "replay/stats/instruction_profile.h"

namespace heddle::replay {

template <typename Function>
void ResolveUnit::ForEachHwWarpRun(const Lanes& lanes, LaneMask mask, Function function) const {
  const auto warp_size = static_cast<uint32_t>(sm_.context.warp_size);
  while (mask != 0) {
    const uint32_t hw_warp = lanes.thread[std::countr_zero(mask)] / warp_size;
    LaneMask rest = 0;
    if (!sm_.context.static_warps) {
      rest = mask & (mask - 1);
      while (rest != 0 && lanes.thread[std::countr_zero(rest)] / warp_size == hw_warp) rest &= rest - 1;
    }
    function(hw_warp, mask & ~rest);
    mask = rest;
  }
}

bool ResolveUnit::FinishInstruction(SlotId slot, bool ask_after_barrier) {
  const WarpTable& table = sm_.table();
  const Position at = table.position[slot];
  const Step& step = sm_.steps[at.pc()];
  PathGroups& paths = pending_.paths;
  ResolveReason reason = ResolveReason::kBarrier;
  if (!step.ends_block) {
    const Position next(at.pc() + 1, at.depth());
    const bool stopped = next == table.stop[slot];
    if (!ask_after_barrier) {
      if (!stopped && (sm_.interests & kEveryInstruction) == 0) {
        sm_.formation.Advance(slot, next);
        return true;
      }
      reason = stopped ? ResolveReason::kStop : ResolveReason::kInstruction;
    }
    paths.SetOne(next, table.lanes[slot].mask);
  } else {
    const trace::Block& block = sm_.context.program.block(step.block);
    sm_.control_flow.Next(table.lanes[slot], at, block, paths);
    if (!ask_after_barrier) {
      reason = ResolveReason::kControl;
      if (paths.count == 1 && paths.exited == 0) {
        const Position next = paths.group[0].at;
        if (next == table.stop[slot]) {
          reason = ResolveReason::kStop;
        } else if ((sm_.interests & (kEveryInstruction | kEveryBlockEnd)) == 0) {
          sm_.formation.Advance(slot, next);
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

void ResolveUnit::ArriveAtBarrier(SlotId slot) {
  const Lanes& lanes = sm_.table().lanes[slot];
  const Pc pc = sm_.table().position[slot].pc();
  const Step& step = sm_.steps[pc];
  if (step.arrives) sm_.issues.counters().barriers += static_cast<uint64_t>(std::popcount(lanes.mask));
  const BarrierUnit::LaneBarriers* const by_lane = step.collective == 0 ? nullptr : ReadBarrier(lanes, pc);
  if (step.waits) {
    sm_.issues.progress().Arrived(lanes, sm_.run.now);
    sm_.notifier.DeferBarrierArrival(slot,
                                     by_lane == nullptr ? step.barrier : by_lane->number[std::countr_zero(lanes.mask)]);
  }
  sm_.barriers.Arrive(slot, step, by_lane);
}

const BarrierUnit::LaneBarriers* ResolveUnit::ReadBarrier(const Lanes& lanes, Pc pc) {
  const CollectiveStep& operands = sm_.context.CollectiveOf(pc);
  TakeOperands(operands, lanes, sm_.cursors, values_);
  const int number = operands.Find(trace::v1::Operand::BARRIER);
  const int count = operands.Find(trace::v1::Operand::COUNT);
  for (LaneMask mask = lanes.mask; mask != 0; mask &= mask - 1) {
    const auto lane = static_cast<size_t>(std::countr_zero(mask));
    lane_barriers_.number[lane] = sm_.steps[pc].barrier;
    lane_barriers_.threads[lane] = sm_.steps[pc].barrier_threads;
    if (count >= 0) lane_barriers_.threads[lane] = static_cast<uint32_t>(values_[static_cast<size_t>(count)][lane]);
    if (number < 0) continue;
    const uint64_t id = values_[static_cast<size_t>(number)][lane];
    lane_barriers_.number[lane] =
        id < LaunchContext::kClusterBarrier ? sm_.context.DenseBarrier(id) : LaunchContext::kNoBarrier;
    if (lane_barriers_.number[lane] != LaunchContext::kNoBarrier) continue;
    lane_barriers_.number[lane] = sm_.steps[pc].barrier;
    sm_.run.Fail(absl::InvalidArgumentError(absl::StrCat("at PC ", pc * 8, ": a thread comes to barrier ", id,
                                                         ", where a block has ", LaunchContext::kClusterBarrier)));
  }
  return &lane_barriers_;
}

bool ResolveUnit::ResumeFromBarrier(SlotId slot) {
  const bool is_barrier = sm_.steps[sm_.table().position[slot].pc()].kind == Step::kBarrier;
  if (is_barrier) sm_.issues.progress().Resumed(sm_.table().lanes[slot], sm_.run.now);
  bool ask = false;
  if ((sm_.interests & kBarriers) != 0) {
    const uint32_t number =
        is_barrier ? sm_.context.barrier_ids[sm_.barriers.number_of(slot)] : LaunchContext::kRendezvous;
    ask = sm_.policy->BarrierReleased(slot, number, sm_.formation.editor());
  }
  return FinishInstruction(slot, ask);
}

bool ResolveUnit::TakeLanes(SlotId slot, LaneMask taken) {
  const Position at = sm_.table().position[slot];
  const Step& step = sm_.steps[at.pc()];
  pending_.lanes = sm_.table().lanes[slot];
  pending_.lanes.mask &= taken;
  if (step.ends_block) {
    sm_.control_flow.Next(pending_.lanes, at, sm_.context.program.block(step.block), pending_.paths);
  } else {
    pending_.paths.SetOne(Position(at.pc() + 1, at.depth()), pending_.lanes.mask);
  }
  return Resolve(slot, ResolveReason::kLanes, /*take=*/true);
}

bool ResolveUnit::Resolve(SlotId slot, ResolveReason reason, bool take) {
  const Position at = sm_.table().position[slot];
  const Step& step = sm_.steps[at.pc()];
  const LaneMask exited = pending_.paths.exited;
  Resolution& resolution = pending_.resolution;
  resolution.slot = slot;
  resolution.from = at;
  resolution.reason = reason;
  resolution.groups = pending_.paths.live();
  resolution.exited = exited;
  resolution.lanes = &pending_.lanes;
  resolution.executed = step.guarded ? sm_.cursors.LanesUnderGuard(pending_.lanes) : pending_.lanes.mask;
  resolution.reconvergence = Position::Exit();
  resolution.conditional = false;
  resolution.uniform = step.uniform;
  if (step.ends_block) {
    const trace::Block& block = sm_.context.program.block(step.block);
    resolution.conditional = ControlFlow::Decides(block.terminator);
    if (resolution.conditional) {
      resolution.reconvergence = sm_.control_flow.Reconvergence(pending_.lanes, at, block);
    }
  }
  if (sm_.context.profile != nullptr && resolution.groups.size() + (exited != 0) > 1)
    sm_.context.profile->Split(at.pc());
  pending_.take = take;
  waits_ = true;
  if (take) {
    sm_.formation.BeginTake(slot, pending_.lanes.mask, resolution.groups, exited);
  } else {
    sm_.formation.BeginResolve(slot, resolution.groups, exited);
  }
  if (exited != 0) ExitThreads(slot, pending_.lanes, exited);
  return AskPolicy();
}

bool ResolveUnit::AskPolicy() {
  const Resolution& resolution = pending_.resolution;
  if (sm_.policy->Resolve(resolution, sm_.formation.editor()) == Verdict::kRefused) return false;
  waits_ = false;
  sm_.run.last_progress = sm_.run.now;
  if (pending_.take) {
    sm_.formation.EndTake(pending_.lanes);
  } else {
    sm_.formation.EndResolve(resolution.slot, pending_.lanes);
  }
  ForEachHwWarpRun(pending_.lanes, resolution.exited, [&](uint32_t hw_warp, LaneMask) {
    const BlockId id = sm_.blocks.block_of_hw_warp(hw_warp);
    if (sm_.blocks[id].live != 0 || sm_.blocks[id].exited) return;
    sm_.blocks.SetExited(id);
    if (sm_.context.by_warp && sm_.blocks.ReleaseShared(id)) listener_.SharedReleased();
    listener_.BlockExited(id);
  });
  return true;
}

void ResolveUnit::ExitThreads(SlotId slot, const Lanes& lanes, LaneMask exited) {
  sm_.issues.progress().Exited(lanes, exited, sm_.run.now, sm_.issues.Stalls(), [this](BlockId block) {
    for (const auto& scheduler : sm_.notifier.schedulers()) scheduler->WarpExited(block);
  });
  ForEachHwWarpRun(lanes, exited, [&](uint32_t hw_warp, LaneMask own) {
    if (sm_.blocks.ExitThreads(hw_warp, static_cast<uint32_t>(std::popcount(own)))) {
      sm_.memory.WarpEnded(hw_warp);
      listener_.HwWarpExited(slot, hw_warp);
    }
  });
  if (const LaneMask early = exited & ~sm_.cursors.Finish(lanes, exited); early != 0 && sm_.cursors.ok()) {
    const ThreadId thread = lanes.thread[std::countr_zero(early)];
    sm_.run.Fail(absl::InternalError(absl::StrCat("thread ", sm_.formation.index_in_block(thread), " of block ",
                                                  sm_.blocks[sm_.formation.block_of(thread)].linear_index,
                                                  " exited before the end of its recording")));
  }
  if (sm_.rendezvous.used()) {
    ForEachLane(exited, [&](int lane) { sm_.rendezvous.Exit(lanes.thread[lane]); });
  }
  BlockId checked = BlockTable::kNone;
  ForEachHwWarpRun(lanes, exited, [&](uint32_t hw_warp, LaneMask) {
    if (sm_.blocks.block_of_hw_warp(hw_warp) == checked) return;
    checked = sm_.blocks.block_of_hw_warp(hw_warp);
    sm_.barriers.Recheck(checked);
  });
}

}  // namespace heddle::replay
