#include "replay/core/ibuffer/instruction_buffers.h"

namespace heddle::replay {

InstructionBuffers::InstructionBuffers(const WarpTable& table, const BufferSetup& setup)
    : table_(table),
      fill_below_(setup.fetch_when_free_slot ? setup.entries : uint8_t{1}),
      program_size_(setup.table.size()),
      entries_(table.state.size(), 0) {}

void InstructionBuffers::EndFill(SlotId slot, WarpEntry& warp) {
  warp.fetching = false;
  warp.valid = static_cast<uint8_t>(warp.valid + arriving_.count);
  entries_[slot] = warp.valid;
  counters_.instructions += arriving_.count;
  arriving_.slot = kNoSlot;
}

void InstructionBuffers::Flush(SlotId slot, WarpEntry& warp) {
  if (warp.fetching) {
    warp.fetching = false;
    arriving_.slot = kNoSlot;
  }
  counters_.dropped += warp.valid;
  warp.valid = 0;
  entries_[slot] = 0;
}

void InstructionBuffers::SetFetchable(SlotId slot, WarpEntry& warp, bool room) {
  Fetchable fetchable = Fetchable::kNo;
  if (room && warp.threads != 0 && !warp.paused && !warp.fetching && !warp.waits_for_line &&
      warp.head + warp.valid < program_size_) {
    switch (table_.state[slot]) {
      case SlotState::kOffered:
      case SlotState::kParked:
        fetchable = Fetchable::kEligible;
        break;
      case SlotState::kInFlight:
        if (warp.in_flight != InFlightReason::kControl && warp.in_flight != InFlightReason::kWaitAtEnd) {
          fetchable = Fetchable::kEligible;
        }
        break;
      case SlotState::kBarrier:
        fetchable = Fetchable::kAtBarrier;
        break;
      case SlotState::kResolving:
      case SlotState::kFree:
        break;
    }
  }
  if (fetchable == warp.fetchable) return;
  if (warp.fetchable == Fetchable::kEligible) eligible_.Erase(slot);
  if (warp.fetchable == Fetchable::kAtBarrier) at_barrier_.Erase(slot);
  if (fetchable == Fetchable::kEligible) eligible_.Insert(slot);
  if (fetchable == Fetchable::kAtBarrier) at_barrier_.Insert(slot);
  warp.fetchable = fetchable;
}

}  // namespace heddle::replay
