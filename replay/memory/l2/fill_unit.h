// What comes back to a slice from DRAM, and the requests that wait for it.
#ifndef HEDDLE_REPLAY_MEMORY_L2_FILL_UNIT_H_
#define HEDDLE_REPLAY_MEMORY_L2_FILL_UNIT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "replay/memory/ports/memory_request.h"
#include "traces/base/ring.h"

namespace heddle::replay {

// Lines that have come back are served one after the other, each to its waiting requests in turn. An entry stands for a
// line: the MSHR, or without a cache the request itself.
class FillUnit {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};

  // `returned`: the most entries that may have come back and are not served yet. `waiters`: of the MSHRs; 0 without a
  // cache, where the unit numbers the requests itself.
  FillUnit(uint32_t returned, uint32_t waiters) : returned_(returned), waiting_(waiters) {}

  // A request waits as number `waiter` of the MSHRs.
  void Wait(uint32_t waiter, const MemoryRequest& request) { waiting_[waiter] = request; }
  // Without a cache: a request waits. Its entry.
  uint32_t Wait(const MemoryRequest& request) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(waiting_.size()));
      waiting_.emplace_back();
    }
    const uint32_t entry = free_.back();
    free_.pop_back();
    waiting_[entry] = request;
    return entry;
  }
  // What the entry waits for has come.
  void Return(uint32_t entry) { returned_.push_back(entry); }
  uint32_t returned() const { return returned_.size(); }
  uint32_t most_returned() const { return returned_.capacity(); }

  // Whether there is anything to serve.
  bool busy() const { return serving_ != kNone || !returned_.empty(); }
  // Whether what is to be served has to wait since the last edge that was run.
  bool blocked() const { return blocked_; }
  void Block() { blocked_ = true; }
  void BeginEdge() { blocked_ = false; }

  // The entry that is being served; kNone if the next one has to begin.
  uint32_t serving() const { return serving_; }
  // The entry that comes next; and begins to serve it.
  uint32_t next() const { return returned_.front(); }
  void BeginNext() {
    serving_ = returned_.front();
    returned_.pop_front();
  }
  // The request that is to be answered next; null if it has to be taken in hand. Without a cache `waiter` is the entry.
  const MemoryRequest* in_hand() const { return in_hand_ ? &*in_hand_ : nullptr; }
  void TakeInHand(uint32_t waiter) { in_hand_ = waiting_[waiter]; }
  // It was answered.
  void Answered() { in_hand_.reset(); }
  // All that waited for the entry were answered.
  void End() { serving_ = kNone; }
  // The same without a cache, where its number may be used again.
  void EndAndFree() {
    free_.push_back(serving_);
    serving_ = kNone;
  }

 private:
  uint32_t serving_ = kNone;
  bool blocked_ = false;
  Ring<uint32_t> returned_;
  std::optional<MemoryRequest> in_hand_;
  std::vector<MemoryRequest> waiting_;  // by number of the MSHRs' waiter, or by entry
  std::vector<uint32_t> free_;          // without a cache
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_L2_FILL_UNIT_H_
