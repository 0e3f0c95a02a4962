// What the policy and the schedulers of one SM are told.
#ifndef HEDDLE_REPLAY_CORE_EVENT_NOTIFIER_H_
#define HEDDLE_REPLAY_CORE_EVENT_NOTIFIER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "replay/core/launch_context.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/seams/divergence_policy.h"
#include "replay/seams/types.h"
#include "replay/seams/warp_scheduler.h"
#include "replay/warps/formation.h"

namespace heddle::replay {

// Owns the schedulers, and knows which of them want to know of what. Barrier arrivals and long waits of a cycle are
// delivered after its selection, in their order.
class EventNotifier {
 public:
  EventNotifier(const LaunchContext& context, DivergencePolicy& policy, Formation& formation);

  // One scheduler per port, before anything runs.
  void SetSchedulers(std::vector<std::unique_ptr<WarpScheduler>> schedulers);
  const std::vector<std::unique_ptr<WarpScheduler>>& schedulers() const { return schedulers_; }
  WarpScheduler& scheduler(int port) const { return *schedulers_[static_cast<size_t>(port)]; }
  // The scheduler that the slot belongs to.
  WarpScheduler& scheduler_of(SlotId slot) const { return *schedulers_[formation_.table().port[slot]]; }

  // A slot issued an instruction of the trace: for schedulers that watch the whole SM.
  void NotifyIssue(SlotId slot) const {
    for (WarpScheduler* watcher : issue_watchers_) watcher->IssuedOnSm(slot);
  }
  // Slots that issued together.
  void NotifyIssues(std::span<const SlotId> slots) const {
    for (WarpScheduler* watcher : issue_watchers_) {
      for (const SlotId slot : slots) watcher->IssuedOnSm(slot);
    }
  }
  // For schedulers that watch caches.
  void NotifyCacheEvent(const CacheNotice& notice) const {
    for (WarpScheduler* watcher : cache_watchers_) watcher->CacheEvent(notice);
  }
  // The slot has to wait for memory beyond the core: told at once.
  void NotifyLongWait(SlotId slot);

  // The slot has arrived at the barrier with this dense number; it waits for others of its warp at a matrix
  // instruction, which policies treat as a barrier; it has to wait for memory beyond the core.
  void DeferBarrierArrival(SlotId slot, uint8_t barrier) { deferred_.push_back({slot, barrier, Event::kBarrier}); }
  void DeferRendezvous(SlotId slot) { deferred_.push_back({slot, 0, Event::kRendezvous}); }
  void DeferLongWait(SlotId slot) { deferred_.push_back({slot, 0, Event::kLongWait}); }
  // The slot does not wait for memory beyond the core any more: the policy is told, if it asks, by DeliverEnds.
  void DeferLongWaitEnd(SlotId slot) {
    if ((interests_ & kLongLatency) != 0) ended_.push_back({slot, formation_.table().formed[slot]});
  }
  // By slot; not of slots that have been freed or formed anew since.
  void DeliverEnds() {
    if (!ended_.empty()) TellOfEnds();
  }
  bool any_deferred() const { return !deferred_.empty(); }
  void DeliverDeferred();

 private:
  enum class Event : uint8_t { kBarrier, kRendezvous, kLongWait };
  struct Deferred {
    SlotId slot;
    uint8_t barrier;
    Event what;
  };

  struct Ended {
    SlotId slot;
    uint64_t formed;
  };
  void TellOfEnds();

  std::vector<Deferred> deferred_;
  std::vector<Ended> ended_;
  std::vector<std::unique_ptr<WarpScheduler>> schedulers_;
  std::vector<WarpScheduler*> issue_watchers_;
  std::vector<WarpScheduler*> cache_watchers_;
  const LaunchContext& context_;
  DivergencePolicy& policy_;
  Formation& formation_;
  const uint32_t interests_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_CORE_EVENT_NOTIFIER_H_
