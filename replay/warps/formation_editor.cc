#include "replay/warps/formation_editor.h"

#include "replay/warps/formation.h"

namespace heddle::replay {

Cycle FormationEditor::now() const { return formation_.now(); }
int FormationEditor::warp_size() const { return formation_.warp_size(); }
Position FormationEditor::position_of(ThreadId thread) const { return formation_.position_of(thread); }
BlockId FormationEditor::block_of(ThreadId thread) const { return formation_.block_of(thread); }
uint32_t FormationEditor::index_in_block(ThreadId thread) const { return formation_.index_in_block(thread); }

SlotId FormationEditor::Spawn(Position at, const Lanes& lanes) {
  return formation_.SpawnAs("Spawn", SlotState::kOffered, at, lanes);
}
SlotId FormationEditor::SpawnParked(Position at, const Lanes& lanes, HeldReason reason) {
  return formation_.SpawnAs("SpawnParked", SlotState::kParked, at, lanes, reason);
}
void FormationEditor::Continue(SlotId slot) { formation_.Continue("Continue", slot, SlotState::kOffered); }
void FormationEditor::ContinueParked(SlotId slot, HeldReason reason) {
  formation_.Continue("ContinueParked", slot, SlotState::kParked, reason);
}
void FormationEditor::Place(SlotId slot, Position at, const Lanes& lanes) { formation_.Place(slot, at, lanes); }
void FormationEditor::Dissolve(SlotId slot) { formation_.Dissolve(slot); }
void FormationEditor::Join(SlotId slot, const Lanes& lanes) { formation_.Join(slot, lanes); }
SlotId FormationEditor::Split(SlotId slot, LaneMask mask) { return formation_.Split(slot, mask); }
void FormationEditor::Merge(SlotId from, SlotId into) { formation_.Merge(from, into); }
void FormationEditor::Park(SlotId slot, HeldReason reason) { formation_.Park(slot, reason); }
void FormationEditor::Offer(SlotId slot) { formation_.Offer(slot); }

void FormationEditor::SetStop(SlotId slot, Position stop) { formation_.SetStop(slot, stop); }
void FormationEditor::SetPort(SlotId slot, uint8_t port) { formation_.SetPort(slot, port); }
void FormationEditor::SetPriority(SlotId slot, uint8_t priority) { formation_.SetPriority(slot, priority); }
void FormationEditor::SetGroup(SlotId slot, uint32_t group) { formation_.SetGroup(slot, group); }
void FormationEditor::SetAge(SlotId slot, uint64_t formed) { formation_.SetAge(slot, formed); }
void FormationEditor::InsertInstructions(SlotId slot, uint32_t count) { formation_.InsertInstructions(slot, count); }
void FormationEditor::SetHeld(ThreadId thread, HeldReason reason) { formation_.SetHeld(thread, reason); }
void FormationEditor::StartTimer(Cycle at, uint64_t tag) { formation_.StartTimer(at, tag); }
void FormationEditor::Fail(std::string_view what) { formation_.Fail("its own check", kNoSlot, what); }
void FormationEditor::ReportLimitExceeded(std::string_view what) { formation_.ReportLimitExceeded(what); }

}  // namespace heddle::replay
