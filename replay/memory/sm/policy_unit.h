// Between the data cache of an SM and a memory policy.
#ifndef HEDDLE_REPLAY_MEMORY_SM_POLICY_UNIT_H_
#define HEDDLE_REPLAY_MEMORY_SM_POLICY_UNIT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/memory/cache/cache_lines.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/sm/access_table.h"
#include "replay/memory/sm/first_level_cache.h"
#include "replay/memory/sm/network_interface.h"
#include "replay/memory/sm/sm_memory_counters.h"
#include "replay/memory/sm/stage_access.h"
#include "replay/seams/memory_policy.h"
#include "traces/base/ring.h"

namespace heddle::replay {

// Asks the policy and tells it, keeps what it may know of every line, and sends its prefetches. There is one only if
// the policy wants something. The section "Memory policies" of docs/reference/timing.md has the rules.
class PolicyUnit {
 public:
  // The cache must exist. All references outlive this.
  PolicyUnit(MemoryPolicy& policy, uint32_t warp_size, FirstLevelCache& data, NetworkInterface& network,
             MemoryClient& client);

  // --- warps
  void WarpsAdmitted(BlockId block, uint32_t first_hw_warp, uint32_t hw_warps);
  void WarpEnded(uint32_t hw_warp) {
    if (Wants(kWarps)) policy_.WarpEnded(hw_warp);
  }
  void BlockRetired(BlockId block) {
    if (Wants(kWarps)) policy_.BlockRetired(block);
  }

  // --- accesses
  // An instruction gets the record: who makes its accesses.
  void Begin(RecordId record, const WarpAccess& access);
  LineAccess Describe(const StageAccess& access, const AccessStep& step, Cycle now, Pc pc) const;
  // Asks what the step does if it misses, unless that has been asked.
  void Place(const LineAccess& access, AccessStep& step);
  // Whether the step keeps nothing if it misses.
  static bool KeepsNothing(const AccessStep& step) {
    return step.placement == 1 + static_cast<int>(LinePlacement::kNoLine);
  }
  bool IsAbsent(const LineAccess& access) const { return lines_.IsAbsent(LineOf(access), access.set); }
  // Before a miss takes a way: asks which line gives way, if the policy chooses. What is missing, if something is.
  std::optional<ReservationFail> ChooseVictim(const LineAccess& access);
  // The access was made; the cache has had it with this outcome.
  void Accessed(const LineAccess& access, const AccessStep& step, const CacheOutcome& outcome);
  // It was made past the cache. `missed`: the policy wanted it so.
  void AccessedPast(const LineAccess& access, bool missed);
  // A miss for which nothing is kept, as the cache counts it.
  void CountMiss() { lines_.CountMiss(); }
  // The line of an MSHR has come: Cache::Fill, and what follows from it here.
  CacheEviction Fill(uint16_t entry, Cycle now);

  // --- prefetches
  bool has_prefetch() const { return !prefetches_.asked.empty(); }
  // Whether one can be sent, or turns out not to be needed, in the next cycle. `blocked`: the stage waits for a
  // resource.
  bool PrefetchDue(bool blocked) {
    return !prefetches_.asked.empty() && !blocked && (!IsAbsent(prefetches_.asked.front().access) || CanSend());
  }
  // At the end of a cycle: sends the oldest if it can be sent, drops it if it is not needed.
  void RunPrefetch(bool blocked, Cycle now);

  void AddTo(SmMemoryCounters& counters) const;

 private:
  struct Requester {
    uint16_t hw_warp = kNoHwWarp;
    BlockId block = kNoBlock;
  };
  // A line on its way, by MSHR.
  struct Pending {
    LineAccess access;  // that has asked for it
    LinePlacement placement = LinePlacement::kMostRecent;
    bool fills = false;     // the line goes into the cache when it comes
    bool prefetch = false;  // nobody waits for it
  };
  struct Asked {
    LineAccess access;
    LinePlacement placement = LinePlacement::kMostRecent;
  };

  bool Wants(uint32_t interest) const { return (interests_ & interest) != 0; }
  uint64_t LineOf(const LineAccess& access) const { return access.line_address >> line_bits_; }
  void TellAccessed(const LineAccess& access, LineResult result);
  void TellEvicted(uint32_t way, const CacheEviction& eviction);
  // The line takes that way.
  void Insert(uint32_t way, const Pending& pending);
  // Asks the policy among choice_, which are not empty.
  void AskForVictim(const LineAccess& access);
  // Whether the oldest prefetch, of an absent line, has all that it needs.
  bool CanSend();

  MemoryPolicy& policy_;
  const uint32_t interests_;
  const uint32_t warp_size_;
  const uint32_t line_bits_;
  FirstLevelCache& data_;
  CacheLines lines_;
  NetworkInterface& network_;
  MemoryClient& client_;
  std::vector<BlockId> block_of_;      // by hardware warp
  std::vector<Requester> requesters_;  // by record
  std::vector<Pending> pending_;       // by MSHR
  std::vector<CacheLine> known_;       // by way
  // What the policy may choose from; made anew for each choice.
  struct Choice {
    std::vector<CacheLines::Candidate> candidates;
    std::vector<CacheLine> lines;  // the same, as it sees them
  };
  Choice choice_;
  // Prefetches.
  struct Prefetches {
    uint32_t most_mshrs = 0;
    uint32_t on_their_way = 0;  // that nobody waits for
    std::vector<PrefetchList::Line> room;
    Ring<Asked> asked;
  };
  Prefetches prefetches_;
  PolicyCounters counters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_POLICY_UNIT_H_
