// Replies on their way to the SMs that take a given time, without limit of bandwidth.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_DELAYED_REPLIES_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_DELAYED_REPLIES_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "replay/memory/ports/memory_request.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// One queue per SM, in the order of the cycles in which the replies are there, then of their sending.
class DelayedReplies {
 public:
  explicit DelayedReplies(uint32_t sms) : queues_(sms) {}

  // The reply is there from core cycle `at` on.
  void Add(const MemoryRequest& reply, Cycle at) {
    std::vector<Entry>& queue = queues_[reply.sm];
    queue.push_back({at, sent_++, reply});
    std::push_heap(queue.begin(), queue.end(), Later);
    next_ = std::min(next_, at);
    ++under_way_;
  }

  // The first reply of an SM that is there in cycle `now`, null if none.
  const MemoryRequest* Reply(uint32_t sm, Cycle now) const {
    const std::vector<Entry>& queue = queues_[sm];
    return queue.empty() || queue.front().at > now ? nullptr : &queue.front().reply;
  }
  void TakeReply(uint32_t sm) {
    std::vector<Entry>& queue = queues_[sm];
    std::pop_heap(queue.begin(), queue.end(), Later);
    queue.pop_back();
    --under_way_;
  }

  uint64_t under_way() const { return under_way_; }
  // The first cycle in which a reply is there; not later than that of any reply that is left.
  Cycle next() const { return next_; }
  // Calls wake(sm) for the SMs for which a reply is there in cycle `now`.
  template <typename Function>
  void Wake(Cycle now, Function wake) {
    if (now < next_) return;
    next_ = kNever;
    for (uint32_t sm = 0; sm < queues_.size(); ++sm) {
      if (queues_[sm].empty()) continue;
      const Cycle at = queues_[sm].front().at;
      if (at <= now) wake(sm);
      // What is left after this cycle is there in the next one.
      next_ = std::min(next_, std::max(at, now + 1));
    }
  }

 private:
  struct Entry {
    Cycle at;
    uint64_t sent;  // decides among replies of the same cycle
    MemoryRequest reply;
  };
  static bool Later(const Entry& a, const Entry& b) { return a.at != b.at ? a.at > b.at : a.sent > b.sent; }

  std::vector<std::vector<Entry>> queues_;
  Cycle next_ = kNever;
  uint64_t sent_ = 0;
  uint64_t under_way_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_DELAYED_REPLIES_H_
