// The way to the memory stage.
#ifndef HEDDLE_REPLAY_MEMORY_SM_ACCESS_QUEUE_H_
#define HEDDLE_REPLAY_MEMORY_SM_ACCESS_QUEUE_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "replay/memory/sm/stage_access.h"
#include "traces/base/ring.h"

namespace heddle::replay {

// Accesses on their way behind the one that the stage holds, and the plans of all of them.
class AccessQueue {
 public:
  // `places` on the way, may be 0.
  explicit AccessQueue(uint32_t places) : places_(places), queue_(std::max(1u, places)) {
    free_plans_.reserve(places + 1);
  }

  bool empty() const { return queue_.empty(); }
  bool full() const { return queue_.size() >= places_; }
  uint32_t size() const { return queue_.size(); }
  void Push(const PlannedAccess& access) { queue_.push_back(access); }
  const PlannedAccess& front() const { return queue_.front(); }
  void Pop() { queue_.pop_front(); }

  // A plan for an access that is about to come; it is good until it is freed.
  AccessPlan& NewPlan() {
    if (free_plans_.empty()) {
      plans_.push_back(std::make_unique<AccessPlan>());
      return *plans_.back();
    }
    AccessPlan* const plan = free_plans_.back();
    free_plans_.pop_back();
    return *plan;
  }
  void FreePlan(AccessPlan* plan) { free_plans_.push_back(plan); }

 private:
  const uint32_t places_;
  Ring<PlannedAccess> queue_;
  std::vector<std::unique_ptr<AccessPlan>> plans_;  // as many as were ever on their way at once
  std::vector<AccessPlan*> free_plans_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_ACCESS_QUEUE_H_
