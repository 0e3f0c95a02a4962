#include "replay/policies/divergence/harp/waiting_lookup.h"

#include <bit>

namespace heddle::replay {

void WaitingLookup::Enter(SlotId slot, const WarpTable& table) {
  if (entries_.empty()) return;
  if (slot >= shares_.size()) shares_.resize(size_t{slot} + 1);
  const Position at = table.position[slot];
  LaneMask left = table.lanes[slot].mask;
  for (const uint32_t index : order_) {
    Entry& entry = entries_[index];
    const LaneMask fit = left & ~entry.members;
    if (entry.at != at || entry.block != table.block[slot] || fit == 0 || (whole_warps_ && fit != left)) continue;
    entry.members |= fit;
    ++entry.pending;
    shares_[slot].push_back({index, fit});
    left &= ~fit;
    counters_.Count(kWaitingMerges);
    counters_.Count(kWaitingThreadsMerged, static_cast<uint64_t>(std::popcount(fit)));
  }
  if (left != 0) {
    if (order_.size() == entries_.size()) {
      counters_.Count(kWaitingBypasses);
      return;
    }
    uint32_t index = 0;
    while (entries_[index].pending != 0) ++index;
    Entry& entry = entries_[index];
    entry.at = at;
    entry.block = table.block[slot];
    entry.members = left;
    entry.pending = 1;
    entry.gathered.mask = 0;
    order_.push_back(index);
    counters_.Raise(kMaxWaitingLookup, order_.size());
    shares_[slot].push_back({index, left});
  }
  ++warps_;
}

LaneMask WaitingLookup::OwnOf(SlotId slot, LaneMask lanes) const {
  for (const Share& share : shares_[slot]) lanes &= ~share.lanes;
  return lanes;
}

bool WaitingLookup::LeaveAlone(SlotId slot, LaneMask lanes) {
  std::vector<Share>& shares = shares_[slot];
  const bool alone = shares.size() == 1 && OwnOf(slot, lanes) == 0 && entries_[shares[0].entry].members == lanes;
  if (!alone) return false;
  --warps_;
  Free(shares[0].entry);
  shares.clear();
  return true;
}

void WaitingLookup::Free(uint32_t entry) {
  entries_[entry].pending = 0;
  std::erase(order_, entry);
}

}  // namespace heddle::replay
