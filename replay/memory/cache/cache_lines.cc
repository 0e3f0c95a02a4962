#include "replay/memory/cache/cache_lines.h"

#include <algorithm>

namespace heddle::replay {

void CacheLines::FindCandidates(uint32_t set, std::vector<Candidate>& out) const {
  out.clear();
  const uint64_t* const first = cache_.FirstWay(set);
  const uint64_t* const end = first + cache_.ways_per_set_;
  for (const uint64_t* way = first; way != end; ++way) {
    const uint64_t word = cache_.WordOf(way);
    if (word == 0) {
      out.clear();
      return;
    }
    if ((word & Cache::kOnItsWay) != 0) continue;
    out.push_back({Number(way, set), *way, Cache::StateOf(word) == Cache::LineState::kDirty});
  }
  const auto order = [&](const Candidate& one) {
    return cache_.WordOf(first + (one.way - set * cache_.ways_per_set_)) & Cache::kUses;
  };
  std::ranges::sort(out, {}, order);
}

void CacheLines::MakeLeastRecent(uint32_t way, uint32_t set) {
  uint64_t& word = cache_.WordOf(cache_.FirstWay(set) + (way - set * cache_.ways_per_set_));
  word = (word & ~Cache::kUses) | --cache_.least_ << Cache::kUseShift;
}

CacheOutcome CacheLines::Prefetch(uint64_t line, uint32_t set, SlotId owner, Cycle now) {
  CacheOutcome outcome{.result = CacheResult::kMiss, .fetch = true};
  outcome.entry = cache_.mshrs_.Allocate(line, now);
  uint64_t* way = nullptr;
  if (!cache_.allocate_on_fill_) {
    way = cache_.FindVictim(set);
    cache_.Replace(way, line, Cache::LineState::kReserved, outcome.entry, outcome.eviction);
  }
  cache_.pending_[outcome.entry] = {.way = way, .set = set, .owner = owner};
  return outcome;
}

}  // namespace heddle::replay
