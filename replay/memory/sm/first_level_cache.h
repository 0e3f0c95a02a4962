// The first-level caches of an SM.
#ifndef HEDDLE_REPLAY_MEMORY_SM_FIRST_LEVEL_CACHE_H_
#define HEDDLE_REPLAY_MEMORY_SM_FIRST_LEVEL_CACHE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/cache/cache.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/sm/access_table.h"
#include "replay/memory/sm/sm_memory_counters.h"

namespace heddle::replay {

// One of them, with those who wait for its lines. A line that has come drains: its waiters leave one after the other.
class alignas(64) FirstLevelCache {
 public:
  // Without sets the machine has no such cache.
  explicit FirstLevelCache(const machine::v1::Cache& config);

  bool exists() const { return cache_ != nullptr; }
  // Only if it exists.
  Cache& cache() { return *cache_; }
  const Cache& cache() const { return *cache_; }
  // Cycles from an access to the data of a hit.
  uint32_t hit_cycles() const { return hit_cycles_; }

  // An access waits as number `number` of the MSHRs.
  void Wait(uint32_t number, const Waiter& waiter) { waiters_[number] = waiter; }
  // The line of an MSHR has come: its waiters leave from now on.
  void StartDrain(uint16_t entry) { draining_ = entry; }
  // The MSHR whose waiters leave, MshrTable::kNone if there is none.
  uint16_t draining() const { return draining_; }
  void EndDrain() { draining_ = MshrTable::kNone; }
  // The waiter that leaves next; and lets it leave.
  const Waiter& NextWaiter() const { return waiters_[cache_->mshrs().NextWaiter(draining_)]; }
  const Waiter& TakeWaiter(Cycle now) { return waiters_[cache_->mshrs().TakeWaiter(draining_, now)]; }

  // An access could not be made, for a reason that its cache has not counted; `cycles` times.
  void CountFail(ReservationFail cause, Cycle cycles) { fails_[static_cast<int>(cause)] += cycles; }
  // Adds what was counted in the cycles before `end`.
  void AddTo(FirstLevelCounters& counters, Cycle end) const;
  // Whether lines, MSHRs and counters agree with one another; for tests.
  bool Consistent() const;

 private:
  std::unique_ptr<Cache> cache_;  // null: the machine has none
  uint32_t hit_cycles_;
  uint16_t draining_ = MshrTable::kNone;
  std::vector<Waiter> waiters_;  // by number of the MSHRs' waiter
  std::array<uint64_t, kReservationFails> fails_{};
};

// What the core hears of a line that gave way in a cache.
inline CacheNotice EvictionNotice(const Cache& cache, const CacheEviction& eviction) {
  return {CacheNotice::Kind::kEviction, eviction.owner, eviction.line << cache.line_bits()};
}

// "data", "texture", ...
const char* NameOf(FirstLevel level);
// The configuration of a first-level cache.
const machine::v1::Cache& ConfigOf(const machine::v1::Hierarchy& memory, FirstLevel level);

// All of them.
class FirstLevelCaches {
 public:
  explicit FirstLevelCaches(const machine::v1::Hierarchy& memory);

  FirstLevelCache& operator[](FirstLevel level) { return caches_[static_cast<int>(level)]; }
  const FirstLevelCache& operator[](FirstLevel level) const { return caches_[static_cast<int>(level)]; }
  // Adds what was counted in the cycles before `end`.
  void AddTo(SmMemoryCounters& counters, Cycle end) const;
  // MSHRs in use.
  uint64_t used_mshrs() const;
  // Whether each agrees with itself; for tests.
  bool Consistent() const;

 private:
  std::array<FirstLevelCache, kFirstLevels> caches_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_FIRST_LEVEL_CACHE_H_
