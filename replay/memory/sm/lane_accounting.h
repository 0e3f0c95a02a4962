// What every lane of an access to the data cache counts as.
#ifndef HEDDLE_REPLAY_MEMORY_SM_LANE_ACCOUNTING_H_
#define HEDDLE_REPLAY_MEMORY_SM_LANE_ACCOUNTING_H_

#include "proto/machine.pb.h"
#include "replay/memory/cache/cache.h"
#include "replay/memory/sm/access_plan.h"
#include "replay/memory/sm/memory_profile.h"

namespace heddle::replay {

// Without coalescing every lane is an access of its own: the lanes after the first on a line that is fetched meet a
// line on its way. And if there is a profile, it counts by instruction.
class LaneAccounting {
 public:
  explicit LaneAccounting(const machine::v1::Hierarchy& memory)
      : per_lane_(memory.coalescing() == machine::v1::Hierarchy::COALESCING_OFF), needed_(per_lane_) {}

  // `profile` outlives this.
  void SetProfile(MemoryProfile* profile) {
    profile_ = profile;
    needed_ = per_lane_ || profile != nullptr;
  }
  // Whether there is anything to count besides what the cache has counted.
  bool needed() const { return needed_; }
  // The step of the instruction at `pc` has had this outcome, and the cache has counted it once in `counters`.
  void Count(const AccessStep& step, const CacheOutcome& outcome, Pc pc, CacheCounters& counters);

 private:
  const bool per_lane_;
  bool needed_;  // per_lane_, or there is a profile
  MemoryProfile* profile_ = nullptr;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_LANE_ACCOUNTING_H_
