// What memory policies do with the lines of a cache.
#ifndef HEDDLE_REPLAY_MEMORY_CACHE_CACHE_LINES_H_
#define HEDDLE_REPLAY_MEMORY_CACHE_CACHE_LINES_H_

#include <cstdint>
#include <vector>

#include "replay/memory/cache/cache.h"

namespace heddle::replay {

// A view of a cache, for who decides what a plain one does not: which way gives way, where a line is inserted, what is
// fetched ahead. Ways are numbered over the whole cache: set * ways per set + way.
class CacheLines {
 public:
  static constexpr uint32_t kNoWay = ~uint32_t{0};

  // `cache` outlives this.
  explicit CacheLines(Cache& cache) : cache_(cache) {}

  // Ways of the whole cache.
  uint32_t ways() const { return static_cast<uint32_t>(cache_.sets_.size() / 2); }
  bool allocates_on_fill() const { return cache_.allocate_on_fill_; }
  // The way that has the line, or is reserved for it; kNoWay if none.
  uint32_t WayOf(uint64_t line, uint32_t set) const {
    const uint64_t* const way = cache_.FindWay(line, set);
    return way == nullptr ? kNoWay : Number(way, set);
  }
  // Whether the line is neither there nor on its way.
  bool IsAbsent(uint64_t line, uint32_t set) const {
    return cache_.FindWay(line, set) == nullptr &&
           !(cache_.allocate_on_fill_ && cache_.mshrs_.Find(line) != MshrTable::kNone);
  }

  // Whether a new line of the set finds a way.
  bool HasWay(uint32_t set) { return cache_.FindVictim(set) != nullptr; }

  // A line that may give way.
  struct Candidate {
    uint32_t way = kNoWay;
    uint64_t line = 0;
    bool dirty = false;
  };
  // All of the set, the least recently used first. None if a way is empty, or all are reserved.
  void FindCandidates(uint32_t set, std::vector<Candidate>& out) const;
  // The line in that way is the first of its set to give way from now on, until it is used.
  void MakeLeastRecent(uint32_t way, uint32_t set);

  // A miss for which nothing is kept.
  void CountMiss() {
    ++cache_.counters_.accesses;
    ++cache_.counters_.misses;
  }
  // Takes an MSHR, and with allocation on a miss a way, for a line that is absent and that nobody waits for. There must
  // be both. Counts no access.
  CacheOutcome Prefetch(uint64_t line, uint32_t set, SlotId owner, Cycle now);

 private:
  uint32_t Number(const uint64_t* way, uint32_t set) const {
    return static_cast<uint32_t>(way - cache_.FirstWay(set)) + set * cache_.ways_per_set_;
  }

  Cache& cache_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_CACHE_CACHE_LINES_H_
