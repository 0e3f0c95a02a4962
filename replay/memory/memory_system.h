// What the SMs of a machine see of its memory.
#ifndef HEDDLE_REPLAY_MEMORY_MEMORY_SYSTEM_H_
#define HEDDLE_REPLAY_MEMORY_MEMORY_SYSTEM_H_

#include <array>
#include <cstdint>

#include "proto/trace.pb.h"
#include "replay/core/types.h"
#include "replay/schedule/warp_scheduler.h"

namespace heddle::replay {

// One memory instruction of one warp.
struct WarpAccess {
  uint32_t sm = 0;
  SlotId slot = kNoSlot;  // names the access until its last lane is done: a slot has one access under way at most
  trace::v1::OpClass op = trace::v1::OP_UNKNOWN;  // load, store, atomic or texture
  trace::v1::MemorySpace space = trace::v1::SPACE_NONE;
  uint32_t bytes = 0;  // per lane
  LaneMask lanes = 0;
  // By lane. Null if the instruction has no address (copies of by-value parameters), or if the space is not generic and
  // the memory system does not need addresses.
  const std::array<uint64_t, kMaxLanes>* addresses = nullptr;
};

// The core that submitted an access. Calls may come during Submit or during Advance.
class MemoryClient {
 public:
  virtual ~MemoryClient() = default;
  // The data of `lanes` come at the start of cycle `at`: later than the cycle of the submission, not before the cycle
  // of the call. Every lane comes exactly once.
  virtual void LanesDone(SlotId slot, LaneMask lanes, Cycle at) = 0;
  // The access has to wait for memory beyond the core. At most once per access.
  virtual void WaitsOffCore(SlotId slot) = 0;
  // A cache of the SM missed, or lost a line.
  virtual void CacheEvent(const CacheNotice& notice) = 0;
};

// One per run. An SM submits accesses in its cycle, in issue order, and SMs in ascending order.
class MemorySystem {
 public:
  virtual ~MemorySystem() = default;
  // Whether the core must pass addresses of all spaces, not only generic ones.
  virtual bool needs_addresses() const = 0;
  // Longest time from submission to data, for the size of the core's event wheel; longer ones are possible but slow.
  virtual uint32_t longest_latency() const = 0;
  // False: no room; nothing has changed, and the core submits again in a later cycle.
  virtual bool Submit(const WarpAccess& access, Cycle now, MemoryClient& client) = 0;
  // The next cycle in which Advance has something to do; kNever if nothing is under way.
  virtual Cycle NextEvent() const { return kNever; }
  // Everything that happens up to the start of cycle `now`. Calling it too often is harmless.
  virtual void Advance(Cycle /*now*/) {}
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_MEMORY_SYSTEM_H_
