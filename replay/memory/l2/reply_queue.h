// A slice's replies on their way to the network.
#ifndef HEDDLE_REPLAY_MEMORY_L2_REPLY_QUEUE_H_
#define HEDDLE_REPLAY_MEMORY_L2_REPLY_QUEUE_H_

#include <cstdint>

#include "replay/memory/l2/l2_slice_links.h"
#include "replay/memory/ports/clock_domains.h"
#include "replay/memory/ports/memory_request.h"
#include "traces/base/ring.h"

namespace heddle::replay {

// Replies in their order. One for which the network has no room waits until the network says that it has some.
class ReplyQueue {
 public:
  explicit ReplyQueue(uint32_t capacity) : queue_(capacity) {}

  bool full() const { return queue_.full(); }
  bool empty() const { return queue_.empty(); }
  uint32_t size() const { return queue_.size(); }
  uint32_t capacity() const { return queue_.capacity(); }
  // The reply may leave from edge `ready` on.
  void Push(const MemoryRequest& reply, Edge ready) { queue_.push_back({reply, ready}); }

  // When the oldest may leave; kNoEdge if there is none.
  Edge ready() const { return queue_.ready(); }
  // Whether the oldest waits for the network.
  bool blocked() const { return blocked_; }
  // The network has room for it.
  void NetworkHasRoom() { network_has_room_ = true; }
  // The oldest reply, which may leave, of slice `slice` does so if the network has room. Whether it has left.
  bool Send(uint32_t slice, L2SliceLinks& links) {
    if (blocked_ && !network_has_room_) return false;
    network_has_room_ = false;
    blocked_ = !links.SendReply(slice, queue_.front().reply);
    if (!blocked_) queue_.pop_front();
    return !blocked_;
  }

 private:
  struct Waiting {
    MemoryRequest reply;
    Edge ready = 0;
  };

  TimedRing<Waiting> queue_;
  bool blocked_ = false;
  bool network_has_room_ = false;  // for the reply that is blocked
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_L2_REPLY_QUEUE_H_
