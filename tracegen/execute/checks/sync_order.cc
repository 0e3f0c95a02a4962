#include "tracegen/execute/checks/sync_order.h"

#include <algorithm>

namespace heddle::tracegen {

void SyncOrder::Add(const GlobalAccess& access, uint64_t address) {
  if (sync_count_ >= kMostSyncs) return;
  const auto [found, fresh] = syncs_[access.block].try_emplace({address, access.thread});
  Sync& sync = found->second;
  if (fresh) {
    sync = {access.barriers, access.barriers, access.position, access.position};
    ++sync_count_;
  } else {
    sync.last_barriers = access.barriers;
    sync.last_position = access.position;
  }
}

bool SyncOrder::IsSyncBetween(const GlobalAccess& first, const GlobalAccess& second) const {
  const auto behind = syncs_.find(first.block);
  const auto before = syncs_.find(second.block);
  if (behind == syncs_.end() || before == syncs_.end()) return false;
  auto other = before->second.begin();
  uint64_t address = 0;  // of a sync behind the first
  for (const auto& [place, sync] : behind->second) {
    if (place.first == address) continue;
    const bool is_behind =
        (place.second == first.thread && sync.last_position > first.position) || sync.last_barriers > first.barriers;
    if (!is_behind) continue;
    address = place.first;
    while (other != before->second.end() && other->first.first < address) ++other;
    for (auto same = other; same != before->second.end() && same->first.first == address; ++same) {
      if (same->first.second == second.thread && same->second.first_position < second.position) return true;
      if (same->second.first_barriers < second.barriers) return true;
    }
  }
  return false;
}

bool SyncOrder::AreOrdered(const GlobalAccess& a, const GlobalAccess& b) {
  constexpr uint32_t kMostAsked = 1000;
  Answers& answers = answers_[std::minmax(a.item->pc, b.item->pc)];
  if (answers.asked >= kMostAsked) return answers.ordered == answers.asked;
  ++answers.asked;
  const bool ordered = IsSyncBetween(a, b) || IsSyncBetween(b, a);
  answers.ordered += ordered;
  return ordered;
}

}  // namespace heddle::tracegen
