// The front end with a single pipeline before a memory with caches: what its pipeline asks for, and fences.
#include <algorithm>
#include <bit>

#include "replay/core/single_pipeline/single_pipeline_core.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

const Step* SinglePipelineCore::AccessOf(SlotId slot) const {
  const Step& step = sm_.steps[table().position[slot].pc()];
  const InFlightInstruction& state = in_flight_[slot];
  return state.inserted || state.meets || state.passes || step.kind != Step::kMemory ? nullptr : &step;
}

void SinglePipelineCore::SubmitAccess(AccessId id, const SinglePipeline::Access& access, Cycle now) {
  const SlotId first = access.slot[std::countr_zero(access.mask)];
  const Step& step = *AccessOf(first);
  std::array<uint64_t, kMaxLanes> of_slot;
  SlotId slot = kNoSlot;
  ForEachLane(access.mask, [&](int lane) {
    if (access.slot[lane] != slot) {
      slot = access.slot[lane];
      const Pc own = table().position[slot].pc();  // under MIMD another one than the first slot's
      if (step.has_address && sm_.context.HasUniformValues(own)) {
        of_slot = taken_addresses_[slot];
      } else if (step.has_address) {
        sm_.cursors.TakeAddresses(sm_.LanesThatRecord(sm_.steps[own], slot), own, of_slot);
      }
    }
    if (step.has_address) sm_.memory.addresses()[lane] = of_slot[access.lane[lane]];
    access_threads_.thread[lane] = table().lanes[slot].thread[access.lane[lane]];
  });
  access_threads_.mask = access.mask;
  if (step.op == trace::v1::OP_STORE) fences_.AddStore(id, access_threads_, sm_.blocks.admitted());
  const Pc pc = table().position[first].pc();
  if (step.has_address) sm_.LocateShared(pc, access.mask, access_threads_.thread);
  sm_.memory.Submit(id, first, pc, access.mask, access_threads_.thread, step.has_address, now);
}

void SinglePipelineCore::WriteBack(SlotId slot, LaneMask lanes) {
  if (resolve_.waits()) {
    sm_.write_back.Hold({slot, Completion::kFinish, lanes});
  } else {
    ProcessLanes(slot, lanes);
  }
}

// --- asynchronous copies, and threads that meet

void SinglePipelineCore::RunCollectives(Cycle now) {
  sm_.async.RunCycle(now);
  if (sm_.async.any_ended()) sm_.run.last_progress = now;
  // Before the slots go on: their blocks may exit with them, and retire then.
  for (const BlockId block : sm_.async.idle_blocks()) {
    if (sm_.blocks[block].exited) RetireBlock(block);
  }
  for (const SlotId slot : sm_.async.released()) WriteBack(slot, 0);
  if (!sm_.rendezvous.used()) return;
  sm_.rendezvous.RunCycle(sm_.locator, now);
  for (const SlotId slot : sm_.rendezvous.released()) {
    sm_.run.last_progress = now;
    // Else its arrival is still on its way through the pipeline.
    if (table().state[slot] == SlotState::kBarrier) WriteBack(slot, 0);
  }
}

// --- fences

void SinglePipelineCore::Acknowledge(AccessId id) {
  fences_.Acknowledge(id);
  pipeline_->Acknowledge(id);
  for (const SlotId slot : fences_.TakeReleased([this](SlotId waiting) { return FenceWaits(waiting); })) {
    WriteBack(slot, 0);
  }
}

bool SinglePipelineCore::FenceWaits(SlotId slot) const {
  const bool fence = !in_flight_[slot].inserted && sm_.steps[table().position[slot].pc()].op == trace::v1::OP_FENCE;
  return fence && fences_.StoresPending(table().lanes[slot]);
}

}  // namespace heddle::replay
