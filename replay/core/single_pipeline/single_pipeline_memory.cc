// The thesis front end before a memory with caches: what its pipeline asks for, fences, and register banks.
#include <algorithm>
#include <bit>

#include "replay/core/single_pipeline/single_pipeline_core.h"
#include "replay/seams/lane_mask.h"

namespace heddle::replay {

const Step* SinglePipelineCore::AccessOf(SlotId slot) const {
  const Step& step = steps_[table().position[slot].pc()];
  return in_flight_[slot].inserted || step.kind != Step::kMemory ? nullptr : &step;
}

void SinglePipelineCore::SubmitAccess(AccessId id, const SinglePipeline::Access& access, Cycle now) {
  const SlotId first = access.slot[std::countr_zero(access.mask)];
  const Step& step = *AccessOf(first);
  std::array<uint64_t, kMaxLanes> of_slot;
  SlotId slot = kNoSlot;
  ForEachLane(access.mask, [&](int lane) {
    if (access.slot[lane] != slot) {
      slot = access.slot[lane];
      if (step.has_address) {
        cursors_.PeekAddresses(table().lanes[slot], table().position[slot].pc(), of_slot);
        cursors_.SkipAddresses(table().lanes[slot]);
      }
    }
    if (step.has_address) addresses_[lane] = of_slot[access.lane[lane]];
    access_threads_[lane] = table().lanes[slot].thread[access.lane[lane]];
  });
  if (step.op == trace::v1::OP_STORE) {
    if (stores_.size() <= id) stores_.resize(id + 1);
    stores_[id].submitted = admitted_;
    stores_[id].threads.mask = access.mask;
    stores_[id].threads.thread = access_threads_;
    ForEachLane(access.mask, [&](int lane) { ++stores_of_thread_[access_threads_[lane]]; });
  }
  SubmitToMemory(id, first, access.mask, access_threads_, step.has_address, now);
}

void SinglePipelineCore::WriteBack(SlotId slot, LaneMask lanes) {
  if (resolve_waits_) {
    write_back_.Hold({slot, Completion::kFinish, lanes});
  } else {
    ProcessLanes(slot, lanes);
  }
}

// --- fences

void SinglePipelineCore::WarpsAdmitted(uint32_t first_row, uint32_t rows) {
  if (pipeline_ == nullptr) return;
  const uint32_t first = first_row * static_cast<uint32_t>(context_.warp_size);
  const uint32_t threads = rows * static_cast<uint32_t>(context_.warp_size);
  for (uint32_t thread = first; thread < first + threads; ++thread) {
    stores_of_thread_[thread] = 0;
    admitted_at_[thread] = admitted_;
  }
}

void SinglePipelineCore::Acknowledge(AccessId id) {
  const Store& store = stores_[id];
  ForEachLane(store.threads.mask, [&](int lane) {
    const ThreadId thread = store.threads.thread[lane];
    // Threads of a block that has come since have no part in it.
    if (admitted_at_[thread] <= store.submitted) --stores_of_thread_[thread];
  });
  pipeline_->Acknowledge(id);
  const auto waits = [this](SlotId slot) { return FenceWaits(slot); };
  const auto free = std::stable_partition(fences_.begin(), fences_.end(), waits);
  const std::vector<SlotId> going_on(free, fences_.end());
  fences_.erase(free, fences_.end());
  for (const SlotId slot : going_on) WriteBack(slot, 0);
}

// Whether stores of the slot's threads are on their way, and its instruction is a fence.
bool SinglePipelineCore::FenceWaits(SlotId slot) const {
  if (in_flight_[slot].inserted || steps_[table().position[slot].pc()].op != trace::v1::OP_FENCE) return false;
  bool waits = false;
  const Lanes& lanes = table().lanes[slot];
  ForEachLane(lanes.mask, [&](int lane) { waits |= stores_of_thread_[lanes.thread[lane]] != 0; });
  return waits;
}

// --- register banks

// Fung's thesis, section 5.1.1: threads of one home lane read the same bank, one after another. Warps that keep to
// their home lanes never wait.
int SinglePipelineCore::RegisterBankPenalty(SlotId slot) const {
  if (context_.bank_penalty == machine::v1::ThesisPipeline::BANK_PENALTY_NONE || !context_.any_lane) return 0;
  std::array<uint8_t, kMaxLanes> threads_of_bank{};
  int most = 0;
  const Lanes& lanes = table().lanes[slot];
  ForEachLane(lanes.mask, [&](int lane) {
    most = std::max<int>(most, ++threads_of_bank[lanes.thread[lane] % context_.warp_size]);
  });
  if (most <= 1) return 0;
  const bool all = context_.bank_penalty == machine::v1::ThesisPipeline::BANK_PENALTY_M;
  return (all ? most : most - 1) * context_.bank_penalty_cycles;
}

}  // namespace heddle::replay
