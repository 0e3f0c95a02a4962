// Two-level scheduling: a small active set hides short latencies, the others wait for memory.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "replay/policies/schedule/shared/history_scheduler.h"
#include "replay/seams/slot_queue.h"

namespace heddle::replay {
namespace {

// Only warps of the active set issue, in turn (Gebhart et al., ISCA 2011; the sample configuration of GPGPU-Sim 3.2.2).
// A warp that has to wait for memory beyond the core, or arrives at a barrier, goes to the end of the pending queue;
// while the set has room, the first pending warp that does not wait enters it (`first_ready`), or the first one
// whatever it waits for (`head`, as GPGPU-Sim does: it may have to leave again at once).
//
// A member that has ended or is held back by the divergence policy gives up its place without an event; Pick passes
// over it and counts pending warps in its stead, the next issue makes that true.
class ActiveSet final : public HistoryScheduler {
 public:
  ActiveSet(const SchedulerContext& context, const Parameters& parameters)
      : HistoryScheduler(2),
        table_(context.table),
        size_(static_cast<int>(parameters.Integer("active"))),
        head_only_(parameters.Choice("promote") == "head"),
        formed_(kMaxSlots, 0),
        ticket_(kMaxSlots, 0) {}

  SlotId Pick(const SlotSet& eligible) const override {
    int members = 0;
    // Warps that a policy has given less priority than the eligible ones have to wait for these.
    const uint8_t priority = table_.priority[eligible.First()];
    for (SlotId slot = active_.front(); slot != kNoSlot; slot = active_.After(slot)) {
      if (!Runs(slot) || table_.priority[slot] < priority) continue;
      ++members;
      if (eligible.Contains(slot)) return slot;
    }
    for (SlotId slot = pending_.front(); slot != kNoSlot && members < size_; slot = pending_.After(slot)) {
      if (!Runs(slot) || table_.priority[slot] < priority) continue;
      ++members;
      if (eligible.Contains(slot)) return slot;
    }
    return kNoSlot;
  }

  void Offered(SlotId slot) override {
    HistoryScheduler::Offered(slot);
    if (formed_[slot] != table_.formed[slot] || !(active_.Contains(slot) || IsPending(slot))) {
      // A new warp: the place of the slot's former one is not inherited.
      formed_[slot] = table_.formed[slot];
      Leave(slot);
      Queue(slot);
    }
    Promote();
  }
  void Issued(SlotId slot) override {
    HistoryScheduler::Issued(slot);
    if (!active_.Contains(slot)) {
      Clean();
      Promote();
      // Pick chose it from the pending queue over warps before it that wait.
      if (!active_.Contains(slot)) Enter(slot);
    }
    active_.PushBack(slot);  // round-robin inside the set
  }
  void LongLatencyStarted(SlotId slot) override {
    waits_.Insert(slot);
    if (!head_only_ && pending_.Contains(slot)) {
      pending_.Erase(slot);
      aside_.Insert(slot);
    }
    Demote(slot);
  }
  void LongLatencyEnded(SlotId slot) override {
    waits_.Erase(slot);
    if (aside_.Contains(slot)) {
      aside_.Erase(slot);
      pending_.InsertByKey(slot, ticket_);
    }
    Promote();
  }
  void BarrierArrived(SlotId slot) override {
    if (active_.Contains(slot)) Demote(slot);
  }
  void BarrierReleased(BlockId /*block*/) override { Promote(); }

 private:
  // The warp has ended. Its slot may hold another one by now, of another port even.
  bool Gone(SlotId slot) const {
    return table_.state[slot] == SlotState::kFree || formed_[slot] != table_.formed[slot];
  }
  // The warp can be a member: it goes on without memory, a barrier or the policy being in its way.
  bool Runs(SlotId slot) const {
    const SlotState state = table_.state[slot];
    return !Gone(slot) && (state == SlotState::kOffered || state == SlotState::kInFlight) && !waits_.Contains(slot);
  }
  bool IsPending(SlotId slot) const { return pending_.Contains(slot) || aside_.Contains(slot); }
  // To the end of the pending queue.
  void Queue(SlotId slot) {
    ticket_[slot] = ++tickets_;
    if (!head_only_ && waits_.Contains(slot)) {
      pending_.Erase(slot);
      aside_.Insert(slot);
    } else {
      aside_.Erase(slot);
      pending_.PushBack(slot);
    }
  }
  void Enter(SlotId slot) {
    pending_.Erase(slot);
    aside_.Erase(slot);
    active_.PushBack(slot);
    ++members_;
    ++own_counter(0);
  }
  void Leave(SlotId slot) {
    if (!active_.Contains(slot)) return;
    active_.Erase(slot);
    --members_;
  }
  void Demote(SlotId slot) {
    if (active_.Contains(slot)) {
      Leave(slot);
      Queue(slot);
      ++own_counter(1);
    }
    Promote();
  }
  // Members that do not run leave the set; those that have ended leave it for good.
  void Clean() {
    for (SlotId slot = active_.front(); slot != kNoSlot;) {
      const SlotId next = active_.After(slot);
      if (!Runs(slot)) {
        Leave(slot);
        if (!Gone(slot)) Queue(slot);
      }
      slot = next;
    }
    for (SlotId slot = pending_.front(); slot != kNoSlot;) {
      const SlotId next = pending_.After(slot);
      if (Gone(slot)) pending_.Erase(slot);
      slot = next;
    }
    SlotSet gone;
    aside_.ForEach([&](SlotId slot) {
      if (Gone(slot)) gone.Insert(slot);
    });
    gone.ForEach([&](SlotId slot) { aside_.Erase(slot); });
  }
  void Promote() {
    for (SlotId slot = pending_.front(); slot != kNoSlot && members_ < size_;) {
      const SlotId next = pending_.After(slot);
      if (head_only_ ? !Gone(slot) : Runs(slot)) Enter(slot);
      slot = next;
    }
  }

  const WarpTable& table_;
  const int size_;
  const bool head_only_;
  SlotQueue active_;  // in the order of their turn
  int members_ = 0;
  SlotQueue pending_;  // in the order in which they came: of those that wait for memory, only with promote=head
  SlotSet aside_;      // the others that are pending and wait for memory; they come back to their place in the queue
  std::vector<uint64_t> formed_;  // the warp that is queued in a slot
  std::vector<uint64_t> ticket_;  // by slot: when it came to the pending queue
  uint64_t tickets_ = 0;
  SlotSet waits_;
};

// Groups of neighbouring warps (Narasiman et al., MICRO 2011): the current group issues round-robin among itself; the
// next group gets the turn only when every warp of the current one waits for memory, for a barrier, or is held back.
class FetchGroups final : public HistoryScheduler {
 public:
  FetchGroups(const SchedulerContext& context, const Parameters& parameters)
      : HistoryScheduler(2),
        table_(context.table),
        port_(context.port),
        ports_(context.ports),
        size_(static_cast<int>(parameters.Integer("group"))) {}

  SlotId Pick(const SlotSet& eligible) const override {
    const SlotId own = InGroup(eligible, current_);
    if (own != kNoSlot || GroupGoesOn(table_.priority[eligible.First()])) return own;
    int best = std::numeric_limits<int>::max();
    eligible.ForEach([&](SlotId slot) {
      const int group = GroupOf(slot);
      // Groups behind the current one come first, then those before it.
      const int distance = group > current_ ? group - current_ : group - current_ + kMaxSlots;
      if (distance < best) best = distance;
    });
    const int group = (current_ + best) % kMaxSlots;
    return InGroup(eligible, group);
  }
  void Issued(SlotId slot) override {
    HistoryScheduler::Issued(slot);
    const int group = GroupOf(slot);
    if (group == current_) return;
    for (const size_t counter : {0, 1}) ++own_counter(counter);
    current_ = group;
  }
  void LongLatencyStarted(SlotId slot) override { waits_.Insert(slot); }
  void LongLatencyEnded(SlotId slot) override { waits_.Erase(slot); }

 private:
  int GroupOf(SlotId slot) const { return slot / ports_ / size_; }
  SlotId InGroup(const SlotSet& eligible, int group) const {
    SlotId first = kNoSlot;
    SlotId behind_last = kNoSlot;
    eligible.ForEach([&](SlotId slot) {
      if (GroupOf(slot) != group) return;
      if (first == kNoSlot) first = slot;
      if (behind_last == kNoSlot && history().last() != kNoSlot && slot > history().last()) behind_last = slot;
    });
    return behind_last != kNoSlot ? behind_last : first;
  }
  // Some warp of the current group neither waits nor has less priority than those that are eligible.
  bool GroupGoesOn(uint8_t priority) const {
    const int first = current_ * size_ * ports_;
    const int end = std::min(first + size_ * ports_, static_cast<int>(table_.state.size()));
    for (int i = first; i < end; ++i) {
      const SlotId slot = static_cast<SlotId>(i);
      if (table_.port[slot] != port_ || waits_.Contains(slot) || table_.priority[slot] < priority) continue;
      if (table_.state[slot] == SlotState::kOffered || table_.state[slot] == SlotState::kInFlight) return true;
    }
    return false;
  }

  const WarpTable& table_;
  const int port_;
  const int ports_;
  const int size_;
  int current_ = 0;
  SlotSet waits_;
};

HEDDLE_WARP_SCHEDULER(
    PolicyInfo{
        .name = "two_level",
        .summary = "A small active set of warps issues in turn; warps that wait for memory or a barrier leave it",
        .source = "Gebhart et al. (ISCA 2011); Narasiman et al. (MICRO 2011) for fetch_groups; GPGPU-Sim 3.2.2",
        .traits = {.holds_back = true},
        .parameters = {{.name = "variant",
                        .type = ParameterType::kChoice,
                        .default_value = "active_set",
                        .choices = {"active_set", "fetch_groups"},
                        .description = "warps enter the set one by one, or fixed groups take turns",
                        .source = "Gebhart et al.; Narasiman et al."},
                       {.name = "active",
                        .default_value = "6",
                        .unit = "warps",
                        .minimum = 1,
                        .maximum = kMaxSlots,
                        .only_if = "variant=active_set",
                        .description = "size of the active set of a port",
                        .source = "sample configuration of GPGPU-Sim 3.2.2"},
                       {.name = "promote",
                        .type = ParameterType::kChoice,
                        .default_value = "first_ready",
                        .choices = {"first_ready", "head"},
                        .only_if = "variant=active_set",
                        .description = "which pending warp enters: the first that does not wait, or the first",
                        .source = "our choice; `head` as in GPGPU-Sim 3.2.2"},
                       {.name = "group",
                        .default_value = "8",
                        .unit = "warps",
                        .minimum = 1,
                        .maximum = kMaxSlots,
                        .only_if = "variant=fetch_groups",
                        .description = "warps of the port in a fetch group",
                        .source = "our choice"}},
        .counters = HistoryCounterSpecsAnd(
            {{"promotions", "warps", "warps that entered the active set (fetch_groups: changes of the group)"},
             {"demotions", "warps", "warps that left the active set to wait (fetch_groups: changes of the group)"}}),
    },
    [](const SchedulerContext& context, const Parameters& parameters) -> std::unique_ptr<WarpScheduler> {
      if (parameters.Choice("variant") == "fetch_groups") return std::make_unique<FetchGroups>(context, parameters);
      return std::make_unique<ActiveSet>(context, parameters);
    });

}  // namespace
}  // namespace heddle::replay
