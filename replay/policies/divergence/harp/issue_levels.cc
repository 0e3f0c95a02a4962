#include "replay/policies/divergence/harp/issue_levels.h"

#include "replay/policies/divergence/harp/harp_timer.h"

namespace heddle::replay {

void IssueLevels::EnterFirstLevel(SlotId slot, WarpEditor& editor) {
  counters_.Raise(kMaxFirstLevel, static_cast<uint64_t>(++first_level_));
  if (EntersAtOnce()) {
    editor.Offer(slot);
    return;
  }
  editor.Park(slot, HeldReason::kReady);
  editor.StartTimer(editor.now() + options_.first_level_delay,
                    HarpTimer{HarpTimer::Event::kFirstLevel, port_, slot}.Tag());
}

void IssueLevels::MakeReady(SlotId slot, WarpEditor& editor) {
  if (HasRoom()) {
    EnterFirstLevel(slot, editor);
    return;
  }
  if (editor.table().held[slot] != HeldReason::kReady) editor.Park(slot, HeldReason::kReady);
  second_level_.PushBack(slot);
  ++second_ready_;
}

void IssueLevels::GoOn(SlotId slot, WarpEditor& editor) {
  if (HasRoom() && EntersAtOnce()) {
    counters_.Raise(kMaxFirstLevel, static_cast<uint64_t>(++first_level_));
    editor.Continue(slot);
    return;
  }
  editor.ContinueParked(slot, HeldReason::kReady);
  MakeReady(slot, editor);
}

void IssueLevels::MoveIn(SlotId slot, Cycle delay, WarpEditor& editor) {
  if (delay == 0) {
    MakeReady(slot, editor);
    return;
  }
  editor.Park(slot, HeldReason::kReady);
  ++arriving_;
  editor.StartTimer(editor.now() + delay, HarpTimer{HarpTimer::Event::kArrival, port_, slot}.Tag());
}

void IssueLevels::Arrived(SlotId slot, WarpEditor& editor) {
  --arriving_;
  MakeReady(slot, editor);
}

void IssueLevels::Issued(WarpEditor& editor) {
  --first_level_;
  while (second_ready_ != 0 && first_level_ < options_.first_level) {
    const SlotId next = second_level_.front();
    second_level_.Erase(next);
    --second_ready_;
    EnterFirstLevel(next, editor);
  }
}

}  // namespace heddle::replay
