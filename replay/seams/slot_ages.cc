#include "replay/seams/slot_ages.h"

#include <algorithm>
#include <utility>

namespace heddle::replay {
namespace {

uint64_t BitOf(SlotId slot) { return uint64_t{1} << (slot & 63); }

}  // namespace

uint16_t SlotAges::Insert(uint16_t previous, uint16_t word, uint64_t bits) {
  uint16_t run = static_cast<uint16_t>(runs_.size());
  if (free_.empty()) {
    runs_.emplace_back();
  } else {
    run = free_.back();
    free_.pop_back();
  }
  const uint16_t next = previous == kNoRun ? first_ : runs_[previous].next;
  runs_[run] = {bits, word, previous, next};
  (previous == kNoRun ? first_ : runs_[previous].next) = run;
  (next == kNoRun ? last_ : runs_[next].previous) = run;
  for (uint64_t left = bits; left != 0; left &= left - 1) run_of_[word * 64 + std::countr_zero(left)] = run;
  return run;
}

void SlotAges::Erase(uint16_t run) {
  const Run& old = runs_[run];
  (old.previous == kNoRun ? first_ : runs_[old.previous].next) = old.next;
  (old.next == kNoRun ? last_ : runs_[old.next].previous) = old.previous;
  free_.push_back(run);
}

void SlotAges::Add(SlotId slot) {
  if (slot >= run_of_.size()) run_of_.resize(slot + size_t{1}, kNoRun);
  const uint64_t bit = BitOf(slot);
  const uint16_t word = static_cast<uint16_t>(slot >> 6);
  if (last_ != kNoRun && runs_[last_].word == word && runs_[last_].bits < bit) {
    runs_[last_].bits |= bit;
    run_of_[slot] = last_;
  } else {
    Insert(last_, word, bit);
  }
}

void SlotAges::Remove(SlotId slot) {
  const uint16_t run = run_of_[slot];
  run_of_[slot] = kNoRun;
  const uint64_t left = runs_[run].bits &= ~BitOf(slot);
  if (left == 0) Erase(run);
}

void SlotAges::Move(SlotId slot, std::span<const SlotEntry> entries) {
  Remove(slot);
  const auto is_older = [&](SlotId other) {
    return std::pair(entries[other].formed, other) < std::pair(entries[slot].formed, slot);
  };
  // The last run with an older slot, and its older slots.
  uint16_t behind = kNoRun;
  uint64_t older = 0;
  for (uint16_t run = first_; run != kNoRun; run = runs_[run].next) {
    uint64_t bits = 0;
    for (uint64_t left = runs_[run].bits; left != 0; left &= left - 1) {
      const SlotId other = static_cast<SlotId>(runs_[run].word * 64 + std::countr_zero(left));
      if (!is_older(other)) break;
      bits |= BitOf(other);
    }
    if (bits == 0) break;
    behind = run;
    older = bits;
  }
  if (behind != kNoRun && older != runs_[behind].bits) {
    const uint64_t younger = runs_[behind].bits & ~older;
    runs_[behind].bits = older;
    Insert(behind, runs_[behind].word, younger);
  }
  Insert(behind, static_cast<uint16_t>(slot >> 6), BitOf(slot));
}

}  // namespace heddle::replay
