// Which accesses are ordered by atomic and volatile accesses between them: locks, flags, counters of blocks.
#ifndef HEDDLE_TRACEGEN_EXECUTE_CHECKS_SYNC_ORDER_H_
#define HEDDLE_TRACEGEN_EXECUTE_CHECKS_SYNC_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "tracegen/execute/checks/global_accesses.h"
#include "traces/format/program/program.h"

namespace heddle::tracegen {

// Two accesses are ordered if an atomic or volatile access lies behind the one and in front of the other, to the same
// place by both sides, each in the accessing thread or beyond a barrier of its block.
class SyncOrder {
 public:
  // An atomic or volatile access. Those of a block are added before it is asked about, in each thread's order.
  void Add(const GlobalAccess& access, uint64_t address);
  // Of accesses by different threads. The same instructions usually stand in the same relation, so a few answers serve
  // for all.
  bool AreOrdered(const GlobalAccess& a, const GlobalAccess& b);

 private:
  static constexpr size_t kMostSyncs = size_t{1} << 20;
  // Atomic and volatile accesses to a place by a thread.
  struct Sync {
    uint32_t first_barriers = 0;
    uint32_t last_barriers = 0;
    uint32_t first_position = 0;
    uint32_t last_position = 0;
  };
  struct Answers {  // about accesses of two instructions
    uint32_t asked = 0;
    uint32_t ordered = 0;
  };

  // Whether syncs lie behind the first and in front of the second.
  bool IsSyncBetween(const GlobalAccess& first, const GlobalAccess& second) const;

  std::unordered_map<uint64_t, std::map<std::pair<uint64_t, uint32_t>, Sync>> syncs_;  // by block; address and thread
  size_t sync_count_ = 0;
  std::map<std::pair<trace::Pc, trace::Pc>, Answers> answers_;
};

}  // namespace heddle::tracegen

#endif  // HEDDLE_TRACEGEN_EXECUTE_CHECKS_SYNC_ORDER_H_
