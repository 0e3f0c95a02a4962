// Warp slots by age.
#ifndef HEDDLE_REPLAY_SEAMS_SLOT_AGES_H_
#define HEDDLE_REPLAY_SEAMS_SLOT_AGES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "replay/seams/slot_entry.h"
#include "replay/seams/slot_set.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// The live slots of an SM in the order of their formation, to find the oldest of a set without looking at its members
// one by one. Slots of a block are formed one after the other and mostly get ascending numbers, so that the order is a
// short list of runs: bits of one word of a set in which a higher slot is younger.
class SlotAges {
 public:
  // The slot is the youngest of all from now on. It must not be a member.
  void Add(SlotId slot);
  void Remove(SlotId slot);
  // The member's age has been changed to entries[slot].formed; of the same age, the lower slot is older.
  void Move(SlotId slot, std::span<const SlotEntry> entries);

  // The oldest member that is in `slots`; kNoSlot if there is none.
  SlotId OldestIn(const SlotSet& slots) const {
    const Run* const runs = runs_.data();  // once: it is asked for every issue
    for (uint16_t number = first_; number != kNoRun;) {
      const Run& run = runs[number];
      if (const uint64_t bits = run.bits & slots.word(run.word)) {
        return static_cast<SlotId>(run.word * 64 + std::countr_zero(bits));
      }
      number = run.next;
    }
    return kNoSlot;
  }
  // Writes the members that are in `slots` to `out`, the oldest first, without `but`; as many as fit. Returns how many.
  size_t ByAge(const SlotSet& slots, SlotId but, std::span<SlotId> out) const {
    SlotId* const first = out.data();
    SlotId* const end = first + out.size();
    SlotId* next = first;
    for (uint16_t run = first_; run != kNoRun; run = runs_[run].next) {
      const uint32_t word = runs_[run].word;
      uint64_t bits = runs_[run].bits & slots.word(word);
      if (but >> 6 == word) bits &= ~(uint64_t{1} << (but & 63));
      for (; bits != 0; bits &= bits - 1) {
        if (next == end) return out.size();
        *next++ = static_cast<SlotId>(word * 64 + static_cast<uint32_t>(std::countr_zero(bits)));
      }
    }
    return static_cast<size_t>(next - first);
  }

 private:
  static constexpr uint16_t kNoRun = 0xffff;
  struct Run {
    uint64_t bits = 0;
    uint16_t word = 0;
    uint16_t previous = kNoRun;
    uint16_t next = kNoRun;
  };

  // A new run behind `previous`, kNoRun = at the beginning.
  uint16_t Insert(uint16_t previous, uint16_t word, uint64_t bits);
  void Erase(uint16_t run);

  absl::InlinedVector<Run, 4> runs_;  // mostly few
  std::vector<uint16_t> free_;
  std::vector<uint16_t> run_of_;  // by slot
  uint16_t first_ = kNoRun;
  uint16_t last_ = kNoRun;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_SLOT_AGES_H_
