// The editor that the engines hand to divergence policies.
#ifndef HEDDLE_REPLAY_WARPS_FORMATION_EDITOR_H_
#define HEDDLE_REPLAY_WARPS_FORMATION_EDITOR_H_

#include <cstdint>
#include <string_view>

#include "replay/seams/types.h"
#include "replay/seams/warp_editor.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

class Formation;

// The door of one SM's Formation through which policies come: it shows them the operations of WarpEditor, and nothing
// of what is for the engine. Formation checks what it is given.
class FormationEditor final : public WarpEditor {
 public:
  // `table` is the formation's; neither is used before the first call.
  FormationEditor(Formation& formation, const WarpTable& table) : WarpEditor(table), formation_(formation) {}

  Cycle now() const override;
  int warp_size() const override;
  Position position_of(ThreadId thread) const override;
  BlockId block_of(ThreadId thread) const override;
  uint32_t index_in_block(ThreadId thread) const override;
  SlotId Spawn(Position at, const Lanes& lanes) override;
  SlotId SpawnParked(Position at, const Lanes& lanes, HeldReason reason) override;
  void Continue(SlotId slot) override;
  void ContinueParked(SlotId slot, HeldReason reason) override;
  void Place(SlotId slot, Position at, const Lanes& lanes) override;
  void Dissolve(SlotId slot) override;
  void Join(SlotId slot, const Lanes& lanes) override;
  SlotId Split(SlotId slot, LaneMask mask) override;
  void Merge(SlotId from, SlotId into) override;
  void Park(SlotId slot, HeldReason reason) override;
  void Offer(SlotId slot) override;
  void SetStop(SlotId slot, Position stop) override;
  void SetPort(SlotId slot, uint8_t port) override;
  void SetPriority(SlotId slot, uint8_t priority) override;
  void SetGroup(SlotId slot, uint32_t group) override;
  void SetAge(SlotId slot, uint64_t formed) override;
  void InsertInstructions(SlotId slot, uint32_t count) override;
  void SetHeld(ThreadId thread, HeldReason reason) override;
  void StartTimer(Cycle at, uint64_t tag) override;
  void Fail(std::string_view what) override;
  void ReportLimitExceeded(std::string_view what) override;

 private:
  Formation& formation_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_WARPS_FORMATION_EDITOR_H_
