// What comes back to an SM: replies, fills, data on their way to the registers.
#ifndef HEDDLE_REPLAY_MEMORY_SM_REPLY_PATH_H_
#define HEDDLE_REPLAY_MEMORY_SM_REPLY_PATH_H_

#include <cstdint>

#include "proto/machine.pb.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/sm/access_table.h"
#include "replay/memory/sm/direct_requests.h"
#include "replay/memory/sm/first_level_cache.h"
#include "replay/memory/sm/held_write_backs.h"
#include "replay/memory/sm/hit_pipes.h"
#include "replay/memory/sm/instruction_fetches.h"
#include "replay/memory/sm/network_interface.h"
#include "replay/memory/sm/policy_unit.h"

namespace heddle::replay {

// A reply fills its cache, which drains then: its waiters leave one per cycle. Data go to the registers, at most
// `returns_per_cycle` per cycle, from hits and from caches that drain in turn. What frees something that the memory
// stage may wait for says so: the functions that run a part of a cycle return it.
class ReplyPath {
 public:
  // All references outlive this.
  ReplyPath(const machine::v1::Hierarchy& memory, FirstLevelCaches& caches, NetworkInterface& network, HitPipes& pipes,
            AccessTable& accesses, DirectRequests& directs, InstructionFetches& fetches, MemoryClient& client);

  // Lines of the data cache come by way of the policy from now on, which outlives this.
  void SetPolicy(PolicyUnit* policy) { policy_ = policy; }

  // Whether a cache drains.
  bool draining() const { return draining_ != 0; }
  // Whether a line that a fill displaced waits for a place in the miss queue.
  bool holds_write_back() const { return !held_.empty(); }

  // Takes the reply that has come, unless its cache drains.
  bool TakeReply(const MemoryRequest& reply, Cycle now);
  // A cache drains, or hits are on their way: gives data to the core.
  bool ReturnData(Cycle now);
  // Moves the oldest line that waits for a place in the miss queue there, if there is one.
  bool MoveHeldWriteBack(Cycle now);

 private:
  bool Drains(FirstLevel level) const { return (draining_ >> static_cast<int>(level) & 1) != 0; }
  void SetDrains(FirstLevel level) { draining_ |= static_cast<uint8_t>(1u << static_cast<int>(level)); }
  void ClearDrains(FirstLevel level) { draining_ &= static_cast<uint8_t>(~(1u << static_cast<int>(level))); }
  // Whether who leaves next is a store, which needs no way to the registers.
  bool StoreIsNext(FirstLevel level) const;
  // A bit for every source that has data for the registers; caches in `turn_used` have none in this cycle.
  uint32_t SourcesWithData(uint32_t turn_used, Cycle now) const;
  // Gives one of the data that the source has.
  bool ReturnFrom(RegisterSource source, uint32_t& turn_used, Cycle now);
  // Lets one waiter of a cache that drains leave.
  bool DrainOne(FirstLevel level, Cycle now);
  // The last waiter of the line that drains has left.
  bool FinishEntry(FirstLevel level, Cycle now);
  bool Fill(FirstLevel level, const MemoryRequest& reply, Cycle now);

  uint8_t draining_ = 0;        // bit mask of levels that drain
  uint8_t last_return_ = 0;     // source
  uint32_t direct_ = 0;         // if the data cache drains without an MSHR: the tag of the reply
  uint32_t direct_cycles_ = 0;  // then its data are there so much later
  const uint32_t returns_per_cycle_;
  const uint32_t atomic_cycles_;
  FirstLevelCaches& caches_;
  NetworkInterface& network_;
  HitPipes& pipes_;
  AccessTable& accesses_;
  DirectRequests& directs_;
  InstructionFetches& fetches_;
  MemoryClient& client_;
  HeldWriteBacks held_;
  PolicyUnit* policy_ = nullptr;  // of the data cache; null: it has none
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_REPLY_PATH_H_
