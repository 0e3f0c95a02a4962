// A slice's queue to its DRAM controller.
#ifndef HEDDLE_REPLAY_MEMORY_L2_DRAM_JOB_QUEUE_H_
#define HEDDLE_REPLAY_MEMORY_L2_DRAM_JOB_QUEUE_H_

#include <cstdint>

#include "replay/memory/ports/clock_domains.h"
#include "traces/base/ring.h"

namespace heddle::replay {

// A request of a slice to its DRAM controller.
struct DramJob {
  uint64_t address = 0;
  uint32_t bytes = 0;
  uint32_t entry = 0;  // what the data are for; Returned takes it back
  bool write = false;
  Edge ready = 0;  // the first DRAM edge at which the controller may take it
};

// Jobs in their order, through the pipeline before the controller; and how many the DRAM has not answered.
class DramJobQueue {
 public:
  explicit DramJobQueue(uint32_t capacity) : queue_(capacity) {}

  uint32_t room() const { return queue_.room(); }
  bool full() const { return queue_.full(); }
  bool empty() const { return queue_.empty(); }
  uint32_t size() const { return queue_.size(); }
  void Push(const DramJob& job) {
    queue_.push_back(job);
    ++unanswered_;
  }

  // Whether something waits for room since the last edge that was run.
  bool room_wanted() const { return room_wanted_; }
  void WantRoom() { room_wanted_ = true; }
  void BeginEdge() { room_wanted_ = false; }

  // The oldest job: from when on it may be taken (kNoEdge: there is none), what it is; and takes it.
  Edge ready() const { return queue_.ready(); }
  const DramJob& front() const { return queue_.front(); }
  void Pop() { queue_.pop_front(); }
  // The data of a job have come, or have been written.
  void Answered() { --unanswered_; }
  // Jobs in the queue or in the DRAM.
  uint64_t unanswered() const { return unanswered_; }

 private:
  bool room_wanted_ = false;
  uint64_t unanswered_ = 0;
  TimedRing<DramJob> queue_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_L2_DRAM_JOB_QUEUE_H_
