// Miss status holding registers: the lines that a cache has asked for, and who waits for them.
#ifndef HEDDLE_REPLAY_MEMORY_CACHE_MSHR_TABLE_H_
#define HEDDLE_REPLAY_MEMORY_CACHE_MSHR_TABLE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "replay/seams/types.h"

namespace heddle::replay {

// A fixed number of entries with a fixed number of waiters each. What a waiter is belongs to the owner: the table hands
// out waiter numbers, 0 to waiters() - 1, which index an array of the owner. An entry lives through three states: on
// its way (accepts waiters), draining (the line has come; waiters leave in the order in which they came; no new ones),
// free.
class MshrTable {
 public:
  static constexpr uint16_t kNone = 0xffff;

  // `merges`: waiters per entry, the first included. Both at least 1, `entries` below kNone. `one_each`: every waiter
  // but the last of an entry, which the entry itself stands for, takes one of `entries` besides.
  MshrTable(uint32_t entries, uint32_t merges, bool one_each = false);

  uint32_t waiters() const { return static_cast<uint32_t>(entries_.size()) * merges_; }
  uint32_t used() const { return used_; }
  bool one_each() const { return one_each_; }
  uint32_t free() const { return static_cast<uint32_t>(entries_.size()) - used_; }

  // The entry that is on its way with this line; kNone if there is none. Entries that drain are not found: their line
  // is in the cache, or was there and has been evicted since.
  uint16_t Find(uint64_t line) const;
  // The line of an entry on its way.
  uint64_t line(uint16_t entry) const { return keys_[entry]; }
  bool Full(uint16_t entry) const { return entries_[entry].waiters == merges_; }

  // Takes the lowest free entry (there must be one) for a line. It has no waiter yet.
  uint16_t Allocate(uint64_t line, Cycle now);
  // Allocate for an access that asks for a line again: Find does not find the entry.
  uint16_t AllocateApart(Cycle now) { return Allocate(kNoLine, now); }
  // Adds a waiter to an entry on its way that is not Full, and with one_each only if there is a free one; its number.
  uint32_t Merge(uint16_t entry, Cycle now) {
    if (one_each_ && entries_[entry].waiters != 0) Use(1, now);
    return Waiter(entry, entries_[entry].waiters++);
  }
  // The line has come.
  void StartDrain(uint16_t entry);
  // Whether a draining entry has no waiters left; else the next of them, which TakeWaiter lets go.
  bool Drained(uint16_t entry) const { return entries_[entry].woken == entries_[entry].waiters; }
  uint32_t NextWaiter(uint16_t entry) const { return Waiter(entry, entries_[entry].woken); }
  uint32_t TakeWaiter(uint16_t entry, Cycle now) {
    const uint32_t waiter = Waiter(entry, entries_[entry].woken++);
    if (one_each_ && !Drained(entry)) Use(-1, now);
    return waiter;
  }
  // Frees a drained entry.
  void Release(uint16_t entry, Cycle now);

  // Cycles by the number of entries in use, 0 to all, from cycle 0 to the one before `end`.
  std::vector<uint64_t> Occupancy(Cycle end) const;
  // Whether entries in use, free entries and keys agree; for tests.
  bool Consistent() const;

 private:
  static constexpr uint64_t kNoLine = ~uint64_t{0};
  static constexpr size_t kLanes = 8;  // keys compared at a time
  struct Entry {
    uint16_t waiters = 0;
    uint16_t woken = 0;
  };

  uint32_t Waiter(uint16_t entry, uint32_t place) const { return entry * merges_ + place; }
  // Credits the time since the last change to the number of entries that were in use, before it changes.
  void Use(int more, Cycle now) {
    occupancy_[used_] += now - since_;
    since_ = now;
    used_ += static_cast<uint32_t>(more);
  }

  uint32_t merges_;
  bool one_each_;
  uint32_t used_ = 0;
  Cycle since_ = 0;
  std::vector<uint64_t> keys_;  // lines on their way, else kNoLine; padded to whole groups
  std::vector<Entry> entries_;
  std::vector<uint64_t> free_;  // bit mask
  std::vector<uint64_t> occupancy_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_CACHE_MSHR_TABLE_H_
