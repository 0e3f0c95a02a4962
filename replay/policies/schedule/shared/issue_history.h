// The statistics that every scheduler keeps.
#ifndef HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_ISSUE_HISTORY_H_
#define HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_ISSUE_HISTORY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/seams/policy_registry.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// Counts how the turn passes between slots. A scheduler has no clock, so time is counted in issues of its port.
class IssueHistory {
 public:
  IssueHistory() : offered_(kMaxSlots, 0) {}

  void Offered(SlotId slot) { offered_[slot] = issues_; }
  void Issued(SlotId slot) {
    longest_wait_ = std::max(longest_wait_, issues_ - offered_[slot]);
    ++issues_;
    if (slot == last_) {
      ++run_;
    } else {
      if (last_ != kNoSlot) ++hand_overs_;
      last_ = slot;
      run_ = 1;
    }
    longest_run_ = std::max(longest_run_, run_);
    // With an instruction buffer a warp may stay ready; its wait for the next issue begins here.
    offered_[slot] = issues_;
  }
  // Offered and Issued for different slots, one after the other: none follows itself, but for the first one.
  void OfferedInOrder(std::span<const SlotId> slots) {
    uint64_t* const offered = offered_.data();
    const uint64_t issues = issues_;
    for (const SlotId slot : slots) offered[slot] = issues;
  }
  void IssuedInOrder(std::span<const SlotId> slots) {
    if (slots.empty()) return;
    Issued(slots.front());
    if (slots.size() == 1) return;
    uint64_t* const offered = offered_.data();
    uint64_t longest = longest_wait_;
    uint64_t issues = issues_;
    for (const SlotId slot : slots.subspan(1)) {
      longest = std::max(longest, issues - offered[slot]);
      offered[slot] = ++issues;
    }
    longest_wait_ = longest;
    issues_ = issues;
    hand_overs_ += slots.size() - 1;
    last_ = slots.back();
    run_ = 1;
  }

  SlotId last() const { return last_; }
  uint64_t hand_overs() const { return hand_overs_; }
  uint64_t longest_run() const { return longest_run_; }
  uint64_t longest_wait() const { return longest_wait_; }

 private:
  std::vector<uint64_t> offered_;  // by slot: issues of the port before its latest offer
  SlotId last_ = kNoSlot;
  uint64_t issues_ = 0;
  uint64_t run_ = 0;
  uint64_t hand_overs_ = 0;
  uint64_t longest_run_ = 0;
  uint64_t longest_wait_ = 0;
};

// Declarations of the counters above, in the order in which HistoryCounters fills them.
inline std::vector<CounterSpec> HistoryCounterSpecs() {
  return {{"hand_overs", "issues", "issues of another warp slot than the one before"},
          {"longest_run", "issues", "most consecutive issues of one warp slot", CounterSpec::Combine::kMaximum},
          {"longest_wait", "issues", "most issues of the port between a warp's being ready and its own issue",
           CounterSpec::Combine::kMaximum}};
}
inline constexpr size_t kHistoryCounters = 3;

// Writes the counters to `out`, which has room for kHistoryCounters.
inline void HistoryCounters(const IssueHistory& history, uint64_t* out) {
  out[0] = history.hand_overs();
  out[1] = history.longest_run();
  out[2] = history.longest_wait();
}

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_POLICIES_SCHEDULE_SHARED_ISSUE_HISTORY_H_
