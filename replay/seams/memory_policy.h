// The fifth seam: what the first-level data cache of an SM keeps, and what it fetches ahead.
//
// To add a memory policy: write replay/policies/memory/NAME.cc with a class that derives from MemoryPolicy and one
// HEDDLE_MEMORY_POLICY registration. Nothing else is edited.
#ifndef HEDDLE_REPLAY_SEAMS_MEMORY_POLICY_H_
#define HEDDLE_REPLAY_SEAMS_MEMORY_POLICY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "replay/seams/policy_origin.h"
#include "replay/seams/policy_registry.h"
#include "replay/seams/shared_state.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_table.h"

namespace heddle::replay {

inline constexpr uint16_t kNoHwWarp = 0xffff;
inline constexpr BlockId kNoBlock = 0xffff;

enum class LineAccessKind : uint8_t {
  kLoad,
  kStore,
  kAtomic,    // goes past the cache, as do volatile loads where the machine says so (these count as kLoad)
  kPrefetch,  // of the policy itself, for the warp that it was asked for
};

// What one transaction of a warp's instruction does with one line of the cache.
struct LineAccess {
  Cycle now = 0;              // of the call
  uint64_t line_address = 0;  // of the line's first byte
  uint32_t set = 0;
  Pc pc = 0;
  SlotId slot = kNoSlot;         // kNoSlot: an access that no warp makes, such as an asynchronous copy
  uint16_t hw_warp = kNoHwWarp;  // hardware warp of the lowest lane's thread
  BlockId block = kNoBlock;      // that of the slot when the instruction issued
  uint8_t threads = 0;           // lanes of the transaction
  LineAccessKind kind = LineAccessKind::kLoad;
};

// What became of it.
enum class LineResult : uint8_t {
  kHit,
  kPendingHit,  // the line is on its way
  kMiss,        // neither; a write that goes through and misses is one, too
  kPast,        // it went past the cache: an atomic, a volatile load, or a miss for which the policy said kNoLine
};

// What a miss does to the cache.
enum class LinePlacement : uint8_t {
  kMostRecent,   // the line is kept, and is the last of its set to give way; as without a policy
  kLeastRecent,  // it is kept, and is the first to give way unless it is used again
  kNoLine,       // nothing is kept: the transaction's bytes are asked for, or written, past the cache
};

// A line of the cache.
struct CacheLine {
  uint64_t line_address = 0;
  Pc pc = 0;              // of the access that has brought it
  SlotId slot = kNoSlot;  // as in LineAccess
  uint16_t hw_warp = kNoHwWarp;
  BlockId block = kNoBlock;
  uint32_t hits = 0;  // since it came
  bool dirty = false;
  bool prefetched = false;
};

// The resources of the cache at the time of a call.
struct CacheState {
  uint32_t mshrs = 0;       // of the cache
  uint32_t used_mshrs = 0;  // by lines on their way, or whose data still leave
  uint32_t queue = 0;       // places of the queue to the network
  uint32_t used_queue = 0;
};

// Where a policy puts the lines that it wants ahead of time.
class PrefetchList {
 public:
  struct Line {
    uint64_t address = 0;
    LinePlacement placement = LinePlacement::kMostRecent;
  };

  explicit PrefetchList(std::span<Line> room) : room_(room) {}

  // The line that holds the address, in global or local memory. False if there is no place for it: it is not asked for.
  // `placement`: kMostRecent or kLeastRecent.
  bool Add(uint64_t address, LinePlacement placement = LinePlacement::kMostRecent) {
    if (size_ == room_.size()) return false;
    room_[size_++] = {address, placement};
    return true;
  }
  size_t size() const { return size_; }

 private:
  const std::span<Line> room_;
  size_t size_ = 0;
};

// How much of the cache prefetches may take.
struct PrefetchLimits {
  uint32_t places = 16;  // lines that are asked for and not sent; at most kMostPrefetches
  uint32_t mshrs = 4;    // lines that are on their way and that no access has met
};
inline constexpr uint32_t kMostPrefetches = 64;

// What a memory policy wants to be asked and told.
enum MemoryInterest : uint32_t {
  kPlaces = 1u << 0,          // Place
  kChoosesVictims = 1u << 1,  // Victim
  kLineAccesses = 1u << 2,    // Accessed
  kLines = 1u << 3,           // Filled, Evicted
  kWarps = 1u << 4,           // WarpsAdmitted, WarpEnded, BlockRetired
};

// One instance per SM and launch. Must be a deterministic function of its calls. By default everything is as the
// machine has it: least recent use, a line for every miss that allocates.
//
// An access may be tried in several cycles, until it has all that it needs. Place is called once for it, when it first
// comes to the cache; Victim once, when it is certain that the line is taken; Accessed once, when it is made.
class MemoryPolicy {
 public:
  static constexpr char kSeam[] = "memory";
  static constexpr char kKind[] = "memory policy";

  virtual ~MemoryPolicy() = default;

  // MemoryInterest, the same every time. 0: the policy is no part of any access, and costs nothing.
  virtual uint32_t interests() const { return 0; }

  // What a load or store does if it misses: asked of every one that comes to the cache, whatever it is going to meet.
  // The answer counts for loads, and for stores that would allocate (write-back), if their line is neither there nor on
  // its way then; all others go as without a policy.
  virtual LinePlacement Place(const LineAccess& /*access*/, const CacheState& /*state*/) {
    return LinePlacement::kMostRecent;
  }

  // Which line gives way to that of `access`: an index of `lines`, which holds all lines of the set that may give way,
  // the least recently used first; lines on their way are not among them. Only if the set has no empty way. Another
  // index ends the run with an error. With allocation on a fill, `access` is the one that missed.
  virtual size_t Victim(const LineAccess& /*access*/, std::span<const CacheLine> /*lines*/) { return 0; }

  // An access was made. Lines that are put into `prefetches` are fetched later, oldest first, at most one per cycle:
  // docs/reference/timing.md, section 6, has the rule.
  virtual void Accessed(const LineAccess& /*access*/, LineResult /*result*/, PrefetchList& /*prefetches*/) {}
  // Asked once.
  virtual PrefetchLimits prefetch_limits() const { return {}; }

  // A line has come, and is in the cache from now on. With allocation on a fill, Evicted of the line that it displaces
  // comes before.
  virtual void Filled(const CacheLine& /*line*/) {}
  // A line gave way to another. Lines that a store or an atomic throws out are not told.
  virtual void Evicted(const CacheLine& /*line*/) {}

  // Warps of a block are on the SM from now on, in hardware warps: all of them with the block, or one by one under
  // dispatchers that give single warps. In the order of their admission.
  virtual void WarpsAdmitted(BlockId /*block*/, uint32_t /*first_hw_warp*/, uint32_t /*hw_warps*/) {}
  // The last thread of the hardware warp has exited. Its stores may still be on their way to the cache.
  virtual void WarpEnded(uint32_t /*hw_warp*/) {}
  virtual void BlockRetired(BlockId /*block*/) {}

  virtual std::span<const uint64_t> counters() const { return {}; }
};

struct MemoryContext {
  const WarpTable& table;  // of the SM, lives as long as the policy
  int warp_size;
  int max_threads;  // hardware threads of the SM
  int max_blocks;   // resident thread blocks
  uint32_t sets;    // of the data cache
  uint32_t ways;    // per set, in this launch
  uint32_t line_bytes;
  uint32_t mshrs;
  uint32_t sm;           // number of the SM
  SmShared shared = {};  // with other policies of the SM
};

using MemoryRegistry = PolicyRegistry<MemoryPolicy, MemoryContext>;

#define HEDDLE_MEMORY_POLICY(...)                                                                    \
  HEDDLE_REGISTER_AT_SEAM("memory", ::heddle::replay::MemoryPolicy, ::heddle::replay::MemoryContext, \
                          ::heddle::replay::MemoryRegistry, __VA_ARGS__)

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_SEAMS_MEMORY_POLICY_H_
