// Instruction buffers, decode and fetch of the reference core (steps 7 and 8).
#include <algorithm>

#include "tests/reference/reference_ibuffer_core.h"

namespace heddle::replay {

// What policies did to the slots since the last look: other warps have empty buffers, and a warp at another position
// loses what it had.
void ReferenceBufferCore::SyncBuffers() {
  const WarpTable& table = formation_.table();
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const SlotId slot = static_cast<SlotId>(i);
    if (table.state[slot] == SlotState::kOffered && offers_[slot] != table.offered_at[slot]) {
      offers_[slot] = table.offered_at[slot];
      offered_[slot] = now_;
    }
    Buffer& buffer = buffers_[slot];
    if (table.state[slot] == SlotState::kFree) {
      statistics_.dropped_instructions += buffer.entries;
      buffer = Buffer{};
      pauses_.erase(slot);
      continue;
    }
    if (table.state[slot] == SlotState::kResolving) continue;
    const Work* held = Holding(slot);
    const bool issued = (held != nullptr && !held->inserted) || arrivals_.contains(slot) ||
                        std::any_of(queue_.begin(), queue_.end(), [&](const Due& due) {
                          return due.kind == Due::Kind::kResolve && due.slot == slot;
                        });
    const Pc head = table.position[slot].pc() + issued;
    if (buffer.formed == table.formed[slot] && buffer.head == head) continue;
    statistics_.dropped_instructions += buffer.entries;
    const bool same_warp = buffer.formed == table.formed[slot];
    buffer = Buffer{.formed = table.formed[slot], .head = head, .flushed = same_warp};
  }
}

void ReferenceBufferCore::Decode() {
  for (Buffer& buffer : buffers_) {
    if (buffer.fetching == 0) continue;
    buffer.entries += buffer.fetching;
    statistics_.fetched_instructions += buffer.fetching;
    buffer.fetching = 0;
  }
}

// Instructions that a fetch for the slot would bring; 0 if it may not be fetched for.
uint32_t ReferenceBufferCore::FetchCount(SlotId slot) const {
  const machine::v1::InstructionBuffer& limits = launch_.machine->core().ibuffer();
  const machine::v1::Memory& memory = launch_.machine->memory();
  const Buffer& buffer = buffers_[slot];
  if (!Live(slot) || BlockPaused(slot) || one_in_flight() || formation_.table().state[slot] == SlotState::kResolving)
    return 0;
  if (const Work* held = Holding(slot); held != nullptr && held->control) return 0;
  if (buffer.fetching != 0 || waits_for_line_.contains(slot)) return 0;
  const bool only_empty = limits.fetch_when() == machine::v1::InstructionBuffer::EMPTY;
  if (buffer.entries >= (only_empty ? 1 : limits.entries())) return 0;
  const Pc first = buffer.head + buffer.entries;
  uint32_t count = std::min(limits.fetch_instructions(), limits.entries() - buffer.entries);
  while (count > 0 && first + count > program().instruction_count()) --count;
  if (memory.has_hierarchy() && memory.hierarchy().l1_instruction().sets() != 0) {
    const uint64_t line = memory.hierarchy().l1_instruction().line_bytes();
    while (count > 0 && uint64_t{first} * 8 / line != uint64_t{first + count - 1} * 8 / line) --count;
  }
  return count;
}

void ReferenceBufferCore::Fetch() {
  SlotSet eligible;
  SlotSet at_barrier;
  std::vector<uint8_t> entries;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const SlotId slot = static_cast<SlotId>(i);
    entries.push_back(static_cast<uint8_t>(buffers_[slot].entries));
    if (FetchCount(slot) == 0) continue;
    (formation_.table().state[slot] == SlotState::kBarrier ? at_barrier : eligible).Insert(slot);
  }
  if (eligible.empty() && at_barrier.empty()) return;
  const SlotId slot = fetch_->Pick({eligible, at_barrier, entries, issued_, last_issued_});
  if (slot == kNoSlot) return;
  if (!eligible.Contains(slot) && !at_barrier.Contains(slot)) {
    status_ = absl::InternalError("the fetch policy picked slot " + std::to_string(slot) + ", which is not eligible");
    return;
  }
  Buffer& buffer = buffers_[slot];
  switch (memory_->Fetch(uint64_t{buffer.head + buffer.entries} * 8, slot, now_)) {
    case FetchResult::kHit:
      ++statistics_.fetches;
      buffer.fetching = FetchCount(slot);
      break;
    case FetchResult::kPending:
      waits_for_line_.insert(slot);
      break;
    case FetchResult::kRefused:
      return;
  }
  buffer.flushed = false;
  fetch_->Fetched(slot);
}

}  // namespace heddle::replay
