#include "replay/core/sm_core.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

SmCore::SmCore(const LaunchContext& context, uint32_t sm, std::unique_ptr<DivergencePolicy> policy, ChunkCache& cache,
               MemorySystem& memory, uint32_t horizon)
    : sm_(context, sm, std::move(policy), cache, memory, *this, horizon),
      resolve_(sm_, *this),
      first_warp_(sm_.blocks.hw_warps()) {}

absl::Status SmCore::status() const {
  if (sm_.formation.failed()) return sm_.formation.status();
  if (!sm_.cursors.ok()) return sm_.cursors.status();
  if (!sm_.control_flow.status().ok()) return sm_.control_flow.status();
  return sm_.run.status;
}

// --- blocks

BlockId SmCore::OpenBlock(const BlockArrival& arrival) {
  const BlockId id = sm_.blocks.Open(arrival);
  if (sm_.context.clusters != nullptr) sm_.context.clusters->Begin(arrival.position, *this, sm_.number, id);
  return id;
}

LaneMask SmCore::AddWarp(BlockId id, const RecordedBlock& recorded, uint32_t warp, uint32_t hw_warp) {
  const uint32_t warp_size = static_cast<uint32_t>(sm_.context.warp_size);
  const uint32_t end = std::min((warp + 1) * warp_size, sm_.context.threads_per_block);
  const uint32_t first = warp * warp_size;
  const auto first_thread = static_cast<ThreadId>(hw_warp * warp_size);
  LaneMask lanes = 0;
  if (sm_.context.swizzle && (warp & 1) != 0) {
    // Fung's thesis, section 4.1: odd-numbered static warps swap neighbouring lanes.
    for (uint32_t index = first; index < end; ++index) {
      uint32_t lane = index - first;
      if ((lane ^ 1) < warp_size) lane ^= 1;
      const auto thread = static_cast<ThreadId>(first_thread + lane);
      lanes |= LaneMask{1} << lane;
      sm_.formation.AddThread(thread, id, index, sm_.context.entry);
      sm_.cursors.Start(thread, 1, recorded, index);
    }
  } else {
    lanes = ~LaneMask{0} >> (kMaxLanes - (end - first));
    sm_.formation.AddThreads(first_thread, end - first, id, first, sm_.context.entry);
    sm_.cursors.Start(first_thread, end - first, recorded, first);
  }
  sm_.barriers.Admit(first_thread, warp_size);
  sm_.blocks.PlaceWarp(id, hw_warp, static_cast<uint32_t>(std::popcount(lanes)));
  return lanes;
}

void SmCore::Admit(const BlockArrival& arrival, Cycle first) {
  Credit(first);
  sm_.formation.SetNow(first == 0 ? 0 : first - 1);
  sm_.run.last_progress = first;
  const BlockId id = OpenBlock(arrival);
  const uint64_t number = sm_.blocks.CountAdmission();
  const uint32_t first_hw_warp = id * sm_.context.hw_warps_per_block;
  std::vector<LaneMask> hw_warps(sm_.context.hw_warps_per_block);
  for (uint32_t warp = 0; warp < sm_.context.hw_warps_per_block; ++warp) {
    hw_warps[warp] = AddWarp(id, arrival.recorded, warp, first_hw_warp + warp);
  }
  for (const auto& scheduler : schedulers()) {
    scheduler->BlockAdmitted(id, number);
    scheduler->WarpsAdmitted(id, first_hw_warp, sm_.context.hw_warps_per_block);
  }
  sm_.memory.WarpsAdmitted(id, first_hw_warp, sm_.context.hw_warps_per_block);
  BlockAdmission admission;
  admission.block = id;
  admission.entry = sm_.context.entry;
  admission.first_thread = static_cast<ThreadId>(first_hw_warp * static_cast<uint32_t>(sm_.context.warp_size));
  admission.warps = hw_warps;
  sm_.issues.progress().Admit(id, admission.first_thread, hw_warps, first, sm_.issues.Stalls());
  if (sm_.context.timelines != nullptr && sm_.context.timelines->Records(arrival.place)) {
    sm_.issues.progress().Record(id, arrival.linear_index, *sm_.context.timelines);
  }
  sm_.policy->Admit(admission, sm_.formation.editor());
  WarpsAdmitted(first_hw_warp, sm_.context.hw_warps_per_block);
}

void SmCore::AdmitWarp(const WarpArrival& arrival, Cycle first) {
  Credit(first);
  sm_.formation.SetNow(first == 0 ? 0 : first - 1);
  sm_.run.last_progress = first;
  const uint32_t hw_warp = arrival.hw_warp;
  const uint32_t warp_size = static_cast<uint32_t>(sm_.context.warp_size);
  const ThreadId first_thread = static_cast<ThreadId>(hw_warp * warp_size);
  sm_.formation.RemoveBlock(sm_.blocks.block_of_hw_warp(hw_warp), first_thread, warp_size);

  const uint64_t number = sm_.blocks.CountAdmission();
  BlockId id = sm_.blocks.Find(arrival.block.position);
  if (id == BlockTable::kNone) {
    id = OpenBlock(arrival.block);
    for (const auto& scheduler : schedulers()) scheduler->BlockAdmitted(id, number);
    if (arrival.virtual_block.has_value()) {
      const WarpArrival::Virtual& virtual_block = *arrival.virtual_block;
      sm_.blocks.BindToVirtualBlock(id, virtual_block);
      for (const auto& scheduler : schedulers()) {
        scheduler->VirtualBlock(id, virtual_block.place, virtual_block.iteration);
      }
    }
  }
  const LaneMask lanes = AddWarp(id, arrival.block.recorded, arrival.warp, hw_warp);
  for (const auto& scheduler : schedulers()) scheduler->WarpsAdmitted(id, hw_warp, 1);
  sm_.memory.WarpsAdmitted(id, hw_warp, 1);
  BlockAdmission admission;
  admission.block = id;
  admission.entry = sm_.context.entry;
  admission.first_thread = first_thread;
  admission.warps = std::span(&lanes, 1);
  sm_.issues.progress().Admit(id, first_thread, admission.warps, first, sm_.issues.Stalls());
  const bool continues = arrival.virtual_block.has_value() && arrival.virtual_block->iteration != 0;
  if (continues) sm_.formation.ContinueWarp(first_warp_[hw_warp].age, first_warp_[hw_warp].port);
  sm_.policy->Admit(admission, sm_.formation.editor());
  const SlotId slot = sm_.formation.slot_of(static_cast<ThreadId>(first_thread + std::countr_zero(lanes)));
  if (slot != kNoSlot) {
    if (!continues) first_warp_[hw_warp] = {table().formed[slot], table().port[slot]};
    if (arrival.instructions != 0) sm_.formation.editor().InsertInstructions(slot, arrival.instructions);
  }
  WarpsAdmitted(hw_warp, 1);
}

void SmCore::GridAssigned() {
  for (const auto& scheduler : schedulers()) scheduler->GridAssigned();
}

void SmCore::SetPaused(BlockId block, bool paused, Cycle first) {
  Credit(first);
  sm_.formation.SetNow(first == 0 ? 0 : first - 1);
  sm_.run.last_progress = first;
  sm_.blocks.SetPaused(block, paused);
  PauseChanged(block);
}

SmActivity SmCore::activity() const {
  const SmCounters& counts = counters();
  const SmCounters::Cycles& cycles = counts.cycles;
  return {cycles.issue,
          cycles.stall,
          cycles.memory,
          cycles.data,
          cycles.idle,
          counts.warp_instructions,
          counts.thread_instructions};
}

void SmCore::RetireBlock(BlockId id) {
  // Statistics of whole blocks are for blocks whose warps are on the SM together.
  if (!sm_.context.by_warp) sm_.issues.progress().Retired(id, EndOfRetired(sm_.run.now), sm_.issues.Stalls());
  sm_.async.Forget(id);
  sm_.barriers.Forget(id);
  sm_.rendezvous.Forget(id);
  sm_.policy->Retire(id, sm_.formation.editor());
  for (const auto& scheduler : schedulers()) scheduler->BlockRetired(id);
  sm_.memory.BlockRetired(id);
  const uint32_t warp_size = static_cast<uint32_t>(sm_.context.warp_size);
  for (uint32_t hw_warp = 0; hw_warp < sm_.blocks.hw_warps(); ++hw_warp) {
    if (sm_.blocks.block_of_hw_warp(hw_warp) == id)
      sm_.formation.RemoveBlock(id, static_cast<ThreadId>(hw_warp * warp_size), warp_size);
  }
  if (sm_.context.clusters != nullptr) sm_.context.clusters->End(sm_.blocks[id].position);
  sm_.blocks.Retire(id);
}

// --- parts of a cycle

void SmCore::RunBarriersAndTimers(Cycle now) {
  if (sm_.barriers.releases()) ReleaseBarriers(now);
  if (sm_.formation.next_timer() <= now) {
    uint64_t tag = 0;
    while (sm_.formation.PopTimer(tag)) sm_.policy->Timer(tag, sm_.formation.editor());
  }
  if (resident() > 0 && (sm_.interests & kEveryCycle) != 0) sm_.policy->Tick(sm_.formation.editor());
}

void SmCore::ReleaseBarriers(Cycle now) {
  sm_.run.last_progress = now;
  for (const BlockId block : sm_.barriers.releasing()) {
    if (!sm_.context.by_warp) sm_.issues.progress().Released(block);
    for (const auto& scheduler : schedulers()) scheduler->BarrierReleased(block);
  }
  sm_.barriers.Release([this](SlotId slot) {
    if (table().state[slot] != SlotState::kBarrier) return;
    if (resolve_.waits()) {
      sm_.write_back.Hold({slot, Completion::kResume, 0});
    } else {
      resolve_.ResumeFromBarrier(slot);
    }
  });
}

}  // namespace heddle::replay
