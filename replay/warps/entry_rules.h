// Which threads may enter a warp slot.
#ifndef HEDDLE_REPLAY_WARPS_ENTRY_RULES_H_
#define HEDDLE_REPLAY_WARPS_ENTRY_RULES_H_

#include <bit>
#include <string>

#include "replay/seams/types.h"
#include "replay/warps/thread_table.h"

namespace heddle::replay {

// Live threads, which are unassigned at the slot's position, each once, and in their home lane unless the policy may
// use any.
class EntryRules {
 public:
  EntryRules(const ThreadTable& threads, int warp_size, bool any_lane)
      : threads_(threads),
        warp_size_(warp_size),
        lane_bits_(std::has_single_bit(static_cast<uint32_t>(warp_size)) ? warp_size - 1 : 0),
        any_lane_(any_lane) {}

  int warp_size() const { return warp_size_; }
  // Whether the threads are sure to keep the rules at `at`, by a quick look at neighbours; if not, ask Violation.
  bool HoldForNeighbours(Position at, const Lanes& lanes) const;
  // What is wrong with the threads, as a clause; empty if nothing is.
  std::string Violation(Position at, const Lanes& lanes) const;

 private:
  // The lane that a thread has in its static warp.
  int HomeLane(ThreadId thread) const { return lane_bits_ != 0 ? thread & lane_bits_ : thread % warp_size_; }

  const ThreadTable& threads_;
  const int warp_size_;
  const int lane_bits_;  // warp size - 1 if that is a power of two above 1, else 0: divisions show in the profile
  const bool any_lane_;
};

// "pc 8 depth 0", or "exit".
std::string PositionText(Position at);

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_WARPS_ENTRY_RULES_H_
