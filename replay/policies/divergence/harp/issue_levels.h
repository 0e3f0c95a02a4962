// The First-Level and Second-Level tables of a HARP scheduler.
#ifndef HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_ISSUE_LEVELS_H_
#define HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_ISSUE_LEVELS_H_

#include <cstdint>

#include "replay/policies/divergence/harp/harp_counters.h"
#include "replay/policies/divergence/harp/harp_options.h"
#include "replay/seams/slot_queue.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_editor.h"

namespace heddle::replay {

// Warps issue from the First-Level; those that find it full are ready in the Second-Level, and the oldest of them moves
// up when a warp has been issued (HARP, section 4.2). Warps that come from another table may take time to arrive.
//
// A slot that is offered is in the First-Level. Ready slots of the Second-Level, and those on their way into either,
// are parked.
class IssueLevels {
 public:
  // `port`: the scheduler, for its timers. Options and counters must outlive this.
  IssueLevels(const HarpOptions& options, uint8_t port, HarpCounters& counters)
      : options_(options), port_(port), counters_(counters) {}

  // A parked slot is ready in the Second-Level, and moves on if the First-Level has room.
  void MakeReady(SlotId slot, WarpEditor& editor);
  // A slot that resolves, all of whose threads go on, is ready.
  void GoOn(SlotId slot, WarpEditor& editor);
  // A parked slot is ready in the Second-Level after `delay` cycles.
  void MoveIn(SlotId slot, Cycle delay, WarpEditor& editor);
  // That time is over: to be called by the timer (HarpTimer::Event::kArrival).
  void Arrived(SlotId slot, WarpEditor& editor);
  // A warp of the First-Level is issued; the Second-Level's oldest move up.
  void Issued(WarpEditor& editor);

  // Warps of the First-Level, including those on their way in.
  int first_level() const { return first_level_; }
  // What lookup_low_water is compared with.
  int ready() const { return second_ready_ + arriving_ + (options_.count_first_level ? first_level_ : 0); }

 private:
  bool HasRoom() const {
    return options_.first_level == 0 || (first_level_ < options_.first_level && second_ready_ == 0);
  }
  bool EntersAtOnce() const { return options_.first_level == 0 || options_.first_level_delay == 0; }
  // A parked slot moves up.
  void EnterFirstLevel(SlotId slot, WarpEditor& editor);

  const HarpOptions& options_;
  const uint8_t port_;
  HarpCounters& counters_;
  SlotQueue second_level_;  // ready warps that wait for the First-Level
  int first_level_ = 0;
  int second_ready_ = 0;  // warps in `second_level_`
  int arriving_ = 0;      // warps on their way into the Second-Level
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_DIVERGENCE_HARP_ISSUE_LEVELS_H_
