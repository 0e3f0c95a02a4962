// Requests whose data are on their way, in the order in which they will be complete.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_DRAM_REPLY_QUEUE_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_DRAM_REPLY_QUEUE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

inline constexpr uint64_t kNeverCycle = ~uint64_t{0};

struct DramReply {
  MemoryRequest request;
  bool write = false;
  uint64_t due = 0;  // the cycle after the last one of its data on the bus
};

// A ring sorted by `due`, then by insertion. It grows when it has to, never shrinks.
class DramReplyQueue {
 public:
  bool empty() const { return count_ == 0; }
  uint64_t first_due() const { return first_due_; }
  const DramReply& front() const { return ring_[first_]; }
  void Pop() {
    first_ = (first_ + 1) & (ring_.size() - 1);
    --count_;
    first_due_ = count_ == 0 ? kNeverCycle : front().due;
  }
  void Insert(const DramReply& reply) {
    if (count_ == ring_.size()) Grow();
    uint64_t place = count_++;
    // Replies come almost sorted: reads and writes differ in latency.
    for (; place > 0 && At(place - 1).due > reply.due; --place) At(place) = At(place - 1);
    At(place) = reply;
    first_due_ = front().due;
  }

 private:
  DramReply& At(uint64_t place) { return ring_[(first_ + place) & (ring_.size() - 1)]; }
  void Grow() {
    std::vector<DramReply> larger(2 * ring_.size());
    for (uint64_t i = 0; i < count_; ++i) larger[i] = At(i);
    ring_ = std::move(larger);
    first_ = 0;
  }

  uint64_t first_due_ = kNeverCycle;  // of the first one: who asks for it does not touch the ring
  std::vector<DramReply> ring_ = std::vector<DramReply>(32);
  uint64_t first_ = 0;
  uint64_t count_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_DRAM_REPLY_QUEUE_H_
