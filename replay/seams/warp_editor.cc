#include "replay/seams/warp_editor.h"

#include "replay/seams/formation.h"

namespace heddle::replay {

const WarpTable& WarpEditor::table() const { return formation_.table(); }
Cycle WarpEditor::now() const { return formation_.now(); }
int WarpEditor::warp_size() const { return formation_.warp_size(); }
Position WarpEditor::position_of(ThreadId thread) const { return formation_.position_of(thread); }
BlockId WarpEditor::block_of(ThreadId thread) const { return formation_.block_of(thread); }
uint32_t WarpEditor::index_in_block(ThreadId thread) const { return formation_.index_in_block(thread); }

SlotId WarpEditor::Spawn(Position at, const Lanes& lanes) {
  return formation_.SpawnAs("Spawn", SlotState::kOffered, at, lanes);
}
SlotId WarpEditor::SpawnParked(Position at, const Lanes& lanes, HeldReason reason) {
  return formation_.SpawnAs("SpawnParked", SlotState::kParked, at, lanes, reason);
}
void WarpEditor::Continue(SlotId slot) { formation_.Continue("Continue", slot, SlotState::kOffered); }
void WarpEditor::ContinueParked(SlotId slot, HeldReason reason) {
  formation_.Continue("ContinueParked", slot, SlotState::kParked, reason);
}
void WarpEditor::Place(SlotId slot, Position at, const Lanes& lanes) { formation_.Place(slot, at, lanes); }
void WarpEditor::Dissolve(SlotId slot) { formation_.Dissolve(slot); }
void WarpEditor::Join(SlotId slot, const Lanes& lanes) { formation_.Join(slot, lanes); }
SlotId WarpEditor::Split(SlotId slot, LaneMask mask) { return formation_.Split(slot, mask); }
void WarpEditor::Merge(SlotId from, SlotId into) { formation_.Merge(from, into); }
void WarpEditor::Park(SlotId slot, HeldReason reason) { formation_.Park(slot, reason); }
void WarpEditor::Offer(SlotId slot) { formation_.Offer(slot); }

void WarpEditor::SetStop(SlotId slot, Position stop) { formation_.SetStop(slot, stop); }
void WarpEditor::SetPort(SlotId slot, uint8_t port) { formation_.SetPort(slot, port); }
void WarpEditor::SetPriority(SlotId slot, uint8_t priority) { formation_.SetPriority(slot, priority); }
void WarpEditor::SetGroup(SlotId slot, uint32_t group) { formation_.SetGroup(slot, group); }
void WarpEditor::SetAge(SlotId slot, uint64_t formed) { formation_.SetAge(slot, formed); }
void WarpEditor::InsertInstructions(SlotId slot, uint32_t count) { formation_.InsertInstructions(slot, count); }
void WarpEditor::SetHeld(ThreadId thread, HeldReason reason) { formation_.SetHeld(thread, reason); }
void WarpEditor::StartTimer(Cycle at, uint64_t tag) { formation_.StartTimer(at, tag); }
void WarpEditor::Fail(std::string_view what) { formation_.Fail("its own check", kNoSlot, what); }
void WarpEditor::MeetLimit(std::string_view what) { formation_.MeetLimit(what); }

}  // namespace heddle::replay
