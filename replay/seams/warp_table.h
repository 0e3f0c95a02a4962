// The warps of one SM as everybody may read them. Only WarpEditor changes them.
#ifndef HEDDLE_REPLAY_SEAMS_WARP_TABLE_H_
#define HEDDLE_REPLAY_SEAMS_WARP_TABLE_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "replay/seams/slot_ages.h"
#include "replay/seams/slot_entry.h"
#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"

namespace heddle::replay {

enum class SlotState : uint8_t {
  kFree,
  kOffered,    // may be issued
  kInFlight,   // has an instruction in the pipeline or in memory
  kBarrier,    // arrived at a thread-block barrier
  kResolving,  // its instruction is done; the policy decides where its threads go
  kParked,     // held back by the policy
};

// What a live thread that is not running waits for, as the thread-state breakdown counts it.
enum class HeldReason : uint8_t {
  kInactive,      // on a side of a divergence that is not being run
  kReconverging,  // waits for siblings at a reconvergence point
  kDependency,    // its warp's instruction is not done: other parts of the warp are in the pipeline or in memory
  kReady,         // could issue, but has no place yet where the scheduler looks
};

// Columns, indexed by slot. A slot is a set of threads at one position; a thread is in at most one slot. Slot numbers
// are allocated deterministically: always the smallest free one.
struct WarpTable {
  // All slots free and empty; once, before anything else.
  explicit WarpTable(int slots);
  WarpTable(const WarpTable&) = delete;
  WarpTable& operator=(const WarpTable&) = delete;

  std::vector<SlotEntry> entries;                                // of the four columns that follow; it keeps its size
  SlotColumn<Position, &SlotEntry::position> position{entries};  // of all threads of the slot
  // Arriving here calls the policy; Position::Exit() = nowhere.
  SlotColumn<Position, &SlotEntry::stop> stop{entries};
  // Order of formation on this SM: the slot's age, smaller is older.
  SlotColumn<uint64_t, &SlotEntry::formed> formed{entries};
  // Order of the latest offer on this SM, for first-in-first-out.
  SlotColumn<uint64_t, &SlotEntry::offered_at> offered_at{entries};
  std::vector<SlotState> state;
  std::vector<uint8_t> port;      // the scheduler that issues it
  std::vector<Lanes> lanes;       // up to the highest slot that has been taken so far
  std::vector<BlockId> block;     // block of the slot's threads (of its first lane, if a policy mixes blocks)
  std::vector<uint8_t> priority;  // higher issues first, whatever the scheduler; normally 0
  std::vector<uint32_t> group;    // free for the policy: slots that belong together
  std::vector<HeldReason> held;   // parked slots: why
  SlotSet offered;                // all slots in state kOffered
  SlotAges ages;                  // slots that are not free, by `formed`
  int live = 0;                   // slots that are not free

  int thread_count(SlotId slot) const { return std::popcount(lanes[slot].mask); }
};

inline WarpTable::WarpTable(int slots)
    : entries(static_cast<size_t>(slots)),
      state(entries.size(), SlotState::kFree),
      port(entries.size(), 0),
      block(entries.size(), 0),
      priority(entries.size(), 0),
      group(entries.size(), 0),
      held(entries.size(), HeldReason::kInactive) {
  lanes.reserve(entries.size());  // they would be half of what it takes to set up an SM, and few are used
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_WARP_TABLE_H_
