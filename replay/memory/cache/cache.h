// A cache by its lines: which are there, which are on their way, what an access meets. Used for the first-level caches
// and for the slices of the L2; queues and timing belong to its owner.
#ifndef HEDDLE_REPLAY_MEMORY_CACHE_CACHE_H_
#define HEDDLE_REPLAY_MEMORY_CACHE_CACHE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/cache/mshr_table.h"
#include "replay/seams/types.h"

namespace heddle::replay {

enum class CacheResult : uint8_t {
  kHit,              // the line is there
  kPendingHit,       // the line is on its way
  kMiss,             // neither
  kReservationFail,  // a resource is missing: nothing has changed, the access has to be tried again
};

// What a reservation fail lacked; tested in the order way, MSHR, miss queue.
enum class ReservationFail : uint8_t {
  kWay,        // all ways of the set are reserved for lines on their way
  kMshr,       // all MSHRs are in use
  kMerge,      // the MSHR of the line has no room for another access
  kMissQueue,  // no room in the queue to the next level
};
inline constexpr int kReservationFails = 4;

enum class CacheOperation : uint8_t {
  kRead,
  kWrite,      // some bytes of the line
  kWriteLine,  // all bytes: with write-back a miss allocates, but fetches nothing
};

// Line accesses. accesses = hits + pending_hits + misses; tries that failed are counted apart, once per cycle.
struct CacheCounters {
  uint64_t accesses = 0;
  uint64_t hits = 0;
  uint64_t pending_hits = 0;
  uint64_t misses = 0;
  uint64_t evictions = 0;    // valid lines that gave way to others
  uint64_t write_backs = 0;  // of those, dirty ones
  std::array<uint64_t, kReservationFails> reservation_fails{};

  void Add(const CacheCounters& other);
  bool operator==(const CacheCounters&) const = default;
};

// A line that gave way to another.
struct CacheEviction {
  bool happened = false;
  bool dirty = false;      // it has to be written to the next level
  SlotId owner = kNoSlot;  // the warp that had fetched it
  uint64_t line = 0;
};

// What an access met, and what its owner has to do now.
struct CacheOutcome {
  CacheResult result = CacheResult::kReservationFail;
  ReservationFail cause = ReservationFail::kWay;  // of a reservation fail
  bool fetch = false;                             // ask the next level for the line, for `entry`; also of a pending
                                                  // hit that asks for it again
  bool forward = false;                           // send the write itself to the next level
  bool waits = false;                             // the access waits in `entry` as `waiter`
  uint16_t entry = MshrTable::kNone;
  uint32_t waiter = 0;
  CacheEviction eviction = {};
};

// Set-associative with least recent use. A line is a number (address / line bytes, or whatever the owner uses); the
// owner names the set as well, so that an L2 slice can number its own sets. Storage is fixed at construction.
class alignas(64) Cache {
 public:
  using WritePolicy = machine::v1::Cache::Write;
  enum class LineState : uint8_t { kInvalid, kReserved, kValid, kDirty };

  // The configuration must have passed the check of machines: sets a power of two, no zero sizes.
  explicit Cache(const machine::v1::Cache& config);
  Cache(Cache&&) = default;
  Cache& operator=(Cache&&) = default;

  uint32_t line_bits() const { return line_bits_; }
  uint64_t LineOf(uint64_t address) const { return address >> line_bits_; }
  // The set of a line number by its lowest bits.
  uint32_t SetOf(uint64_t line) const { return static_cast<uint32_t>(line) & set_mask_; }

  // One access. `policy` says what writes do and is not looked at for reads; READ_ONLY counts as WRITE_EVICT.
  // `queue_room`: free places in the queue to the next level. A miss takes one for its fetch and, with allocation on a
  // miss, one for a dirty line that it evicts; a write that goes through takes one.
  CacheOutcome Access(uint64_t line, uint32_t set, CacheOperation operation, WritePolicy policy, SlotId owner,
                      uint32_t queue_room, Cycle now);

  // A read that hits, as by Access; false if it does not, and nothing has changed.
  bool ReadHit(uint64_t line, uint32_t set) {
    uint64_t* const way = FindWay(line, set);
    if (way == nullptr || StateOf(WordOf(way)) == LineState::kReserved) return false;
    ++counters_.accesses;
    ++counters_.hits;
    Use(WordOf(way));
    return true;
  }

  // Counts the hit of a read that the owner serves with a line that the cache had, and has given up.
  void CountHit() {
    ++counters_.accesses;
    ++counters_.hits;
  }

  // The line of an MSHR has come: it is valid from now on (dirty, if a write waited for it), unless another MSHR of the
  // line has to do with that, and the MSHR drains. With allocation on a fill this evicts; the owner must have room for
  // a write-back then.
  CacheEviction Fill(uint16_t entry);

  // Whether the line is there, or reserved for; does not touch the order of use.
  LineState Peek(uint64_t line, uint32_t set) const;
  // What a pending hit takes.
  machine::v1::Cache::PendingHits pending_hits() const { return pending_hits_; }
  // The MSHR that the line is on its way for; MshrTable::kNone if it is not on its way.
  uint16_t OnItsWay(uint64_t line, uint32_t set) const;
  // Drops the line if it is there and not reserved, without counting it as an eviction.
  void Invalidate(uint64_t line, uint32_t set);
  // Invalidate for all lines for which drop(line) is true.
  template <typename Drop>
  void InvalidateIf(const Drop& drop) {
    for (uint32_t set = 0; set <= set_mask_; ++set) {
      uint64_t* const first = FirstWay(set);
      for (uint64_t* way = first; way != first + ways_per_set_; ++way) {
        if (*way == kNoLine || StateOf(WordOf(way)) == LineState::kReserved || !drop(*way)) continue;
        *way = kNoLine;
        WordOf(way) = 0;
      }
    }
  }

  MshrTable& mshrs() { return mshrs_; }
  const MshrTable& mshrs() const { return mshrs_; }
  CacheCounters& counters() { return counters_; }
  const CacheCounters& counters() const { return counters_; }
  // Whether no line is in two ways, and exactly the lines on their way are reserved; for tests.
  bool Consistent() const;

 private:
  friend class CacheLines;  // what memory policies do with lines
  static constexpr uint64_t kNoLine = ~uint64_t{0};
  // Sets begin with a line of the host's cache, where they are not smaller than that.
  template <typename T>
  struct HostLineAllocator {
    using value_type = T;
    HostLineAllocator() = default;
    template <typename U>
    explicit HostLineAllocator(const HostLineAllocator<U>&) {}
    T* allocate(size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{64})); }
    void deallocate(T* memory, size_t) { ::operator delete(memory, std::align_val_t{64}); }
    bool operator==(const HostLineAllocator&) const = default;
  };
  // What a way holds besides its tag, in one word, so that the next victim is the way with the smallest: empty ways (0)
  // before all others, reserved ones after all others, the rest in the order of their last use. From the highest bit:
  // reserved, order of the last use from 1 on, state, and the owner, or, while the way is reserved, its MSHR.
  static constexpr uint64_t kOnItsWay = uint64_t{1} << 63;
  static constexpr int kUseShift = 18;
  static constexpr uint64_t kUses = (kOnItsWay - 1) & ~uint64_t{0} << kUseShift;
  static constexpr int kStateShift = 16;
  static LineState StateOf(uint64_t word) { return static_cast<LineState>(word >> kStateShift & 3); }
  static uint16_t IdOf(uint64_t word) { return static_cast<uint16_t>(word); }
  static uint64_t StateAndId(LineState state, uint16_t id) {
    return (state == LineState::kReserved ? kOnItsWay : 0) | static_cast<uint64_t>(state) << kStateShift | id;
  }
  void Use(uint64_t& word) { word = (word & ~kUses) | ++uses_ << kUseShift; }

  struct Pending {
    uint64_t* way = nullptr;  // reserved one, if allocation is on a miss
    uint32_t set = 0;
    SlotId owner = kNoSlot;
    bool dirty = false;  // a write waits
    bool again = false;  // the line was on its way already: its first MSHR fills it
  };

  // A way is named by the place of its tag.
  uint64_t* FirstWay(uint32_t set) { return &sets_[size_t{2} * set * ways_per_set_]; }
  const uint64_t* FirstWay(uint32_t set) const { return &sets_[size_t{2} * set * ways_per_set_]; }
  uint64_t& WordOf(uint64_t* way) { return way[ways_per_set_]; }
  uint64_t WordOf(const uint64_t* way) const { return way[ways_per_set_]; }
  // The way with the line; null if it has none.
  const uint64_t* FindWay(uint64_t line, uint32_t set) const {
    const uint64_t* const first = FirstWay(set);
    for (const uint64_t* way = first; way != first + ways_per_set_; ++way) {
      if (*way == line) return way;
    }
    return nullptr;
  }
  uint64_t* FindWay(uint64_t line, uint32_t set) {
    return const_cast<uint64_t*>(static_cast<const Cache*>(this)->FindWay(line, set));
  }
  // The way that a new line of the set takes: an empty one, else the least recently used that is not reserved; null if
  // all are reserved.
  uint64_t* FindVictim(uint32_t set) {
    uint64_t* const first = FirstWay(set);
    uint64_t* victim = nullptr;
    uint64_t least = kOnItsWay;
    for (uint64_t* way = first; way != first + ways_per_set_; ++way) {
      const uint64_t word = WordOf(way);
      victim = word < least ? way : victim;
      least = word < least ? word : least;
    }
    return victim;
  }
  // `id`: the owner, or the MSHR of a way that is reserved.
  void Replace(uint64_t* way, uint64_t line, LineState state, uint16_t id, CacheEviction& eviction);
  CacheOutcome Fail(ReservationFail cause);
  CacheOutcome PendingHit(uint64_t* way, uint16_t entry, bool write, uint32_t queue_room, Cycle now);
  CacheOutcome WriteThrough(uint64_t* way, uint16_t entry, WritePolicy policy, uint32_t queue_room);

  // By set: the tags of its ways, kNoLine for empty ones, then a word for each.
  std::vector<uint64_t, HostLineAllocator<uint64_t>> sets_;
  uint32_t ways_per_set_;
  uint32_t line_bits_;
  uint32_t set_mask_;
  bool allocate_on_fill_;
  machine::v1::Cache::PendingHits pending_hits_;
  // Orders of use: the latest, and one below all others. Both have room for 2^44 of their kind.
  uint64_t uses_ = uint64_t{1} << 44;
  uint64_t least_ = uint64_t{1} << 44;
  std::vector<Pending> pending_;  // by MSHR
  MshrTable mshrs_;
  CacheCounters counters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_CACHE_CACHE_H_
