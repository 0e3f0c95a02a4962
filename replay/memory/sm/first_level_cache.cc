#include "replay/memory/sm/first_level_cache.h"

#include <algorithm>

namespace heddle::replay {

const char* NameOf(FirstLevel level) {
  constexpr std::array<const char*, kFirstLevels> kNames = {"data", "texture", "constant", "instruction"};
  return kNames[static_cast<int>(level)];
}

const machine::v1::Cache& ConfigOf(const machine::v1::Hierarchy& memory, FirstLevel level) {
  switch (level) {
    case FirstLevel::kTexture:
      return memory.l1_texture();
    case FirstLevel::kConstant:
      return memory.l1_constant();
    case FirstLevel::kInstruction:
      return memory.l1_instruction();
    case FirstLevel::kData:
      break;
  }
  return memory.l1_data();
}

FirstLevelCache::FirstLevelCache(const machine::v1::Cache& config) : hit_cycles_(std::max(1u, config.hit_cycles())) {
  if (config.sets() == 0) return;
  cache_ = std::make_unique<Cache>(config);
  waiters_.resize(cache_->mshrs().waiters());
}

void FirstLevelCache::AddTo(FirstLevelCounters& counters, Cycle end) const {
  for (int cause = 0; cause < kReservationFails; ++cause) counters.cache.reservation_fails[cause] += fails_[cause];
  if (cache_ == nullptr) return;
  counters.cache.Add(cache_->counters());
  counters.mshr_occupancy = cache_->mshrs().Occupancy(end);
}

bool FirstLevelCache::Consistent() const {
  if (cache_ == nullptr) return true;
  const CacheCounters& counters = cache_->counters();
  return cache_->Consistent() && counters.accesses == counters.hits + counters.pending_hits + counters.misses;
}

FirstLevelCaches::FirstLevelCaches(const machine::v1::Hierarchy& memory)
    : caches_{FirstLevelCache(ConfigOf(memory, FirstLevel::kData)),
              FirstLevelCache(ConfigOf(memory, FirstLevel::kTexture)),
              FirstLevelCache(ConfigOf(memory, FirstLevel::kConstant)),
              FirstLevelCache(ConfigOf(memory, FirstLevel::kInstruction))} {}

void FirstLevelCaches::AddTo(SmMemoryCounters& counters, Cycle end) const {
  for (int level = 0; level < kFirstLevels; ++level) caches_[level].AddTo(counters.level[level], end);
}

uint64_t FirstLevelCaches::used_mshrs() const {
  uint64_t used = 0;
  for (const FirstLevelCache& cache : caches_) used += cache.exists() ? cache.cache().mshrs().used() : 0;
  return used;
}

bool FirstLevelCaches::Consistent() const {
  return std::ranges::all_of(caches_, [](const FirstLevelCache& cache) { return cache.Consistent(); });
}

}  // namespace heddle::replay
