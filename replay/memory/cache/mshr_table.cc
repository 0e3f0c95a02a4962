#include "replay/memory/cache/mshr_table.h"

#include <bit>

namespace heddle::replay {

MshrTable::MshrTable(uint32_t entries, uint32_t merges, bool one_each)
    : merges_(merges),
      one_each_(one_each),
      keys_((entries + kLanes - 1) / kLanes * kLanes, kNoLine),
      entries_(entries),
      free_((entries + 63) / 64),
      occupancy_(entries + 1) {
  for (uint32_t entry = 0; entry < entries; ++entry) free_[entry / 64] |= uint64_t{1} << entry % 64;
}

uint16_t MshrTable::Find(uint64_t line) const {
  if (used_ == 0) return kNone;
  for (size_t group = 0; group < keys_.size(); group += kLanes) {
    uint32_t equal = 0;
    for (size_t lane = 0; lane < kLanes; ++lane) equal |= static_cast<uint32_t>(keys_[group + lane] == line) << lane;
    if (equal != 0) return static_cast<uint16_t>(group + static_cast<size_t>(std::countr_zero(equal)));
  }
  return kNone;
}

uint16_t MshrTable::Allocate(uint64_t line, Cycle now) {
  Use(1, now);
  size_t word = 0;
  while (free_[word] == 0) ++word;
  const auto entry = static_cast<uint16_t>(word * 64 + static_cast<size_t>(std::countr_zero(free_[word])));
  free_[word] &= free_[word] - 1;
  keys_[entry] = line;
  entries_[entry] = {};
  return entry;
}

void MshrTable::StartDrain(uint16_t entry) { keys_[entry] = kNoLine; }

void MshrTable::Release(uint16_t entry, Cycle now) {
  Use(-1, now);
  free_[entry / 64] |= uint64_t{1} << entry % 64;
}

std::vector<uint64_t> MshrTable::Occupancy(Cycle end) const {
  std::vector<uint64_t> cycles = occupancy_;
  if (end > since_) cycles[used_] += end - since_;
  return cycles;
}

bool MshrTable::Consistent() const {
  uint32_t in_use = 0;
  for (size_t entry = 0; entry < entries_.size(); ++entry) {
    const bool is_free = (free_[entry / 64] >> entry % 64 & 1) != 0;
    if (!is_free) ++in_use;
    const Entry& waiting = entries_[entry];
    if (!is_free && one_each_ && waiting.waiters > waiting.woken) in_use += waiting.waiters - waiting.woken - 1u;
    if (is_free && keys_[entry] != kNoLine) return false;
    if (keys_[entry] == kNoLine) continue;
    if (Find(keys_[entry]) != entry) return false;
  }
  return in_use == used_;
}

}  // namespace heddle::replay
