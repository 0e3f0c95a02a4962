// Requests that wait for a bank.
#ifndef HEDDLE_REPLAY_MEMORY_DRAM_DRAM_REQUEST_QUEUE_H_
#define HEDDLE_REPLAY_MEMORY_DRAM_DRAM_REQUEST_QUEUE_H_

#include <cstdint>
#include <vector>

#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// A request to a DRAM controller.
struct DramRequest {
  MemoryRequest request = {};  // comes back in the reply
  uint32_t row = 0;
  uint32_t bytes = 0;
  uint16_t bank = 0;
  bool write = false;
};

struct DramQueueEntry {
  DramRequest request;
  uint64_t arrival = 0;  // cycle
  uint32_t passed = 0;   // times that a younger request of the bank went before
  uint32_t next = 0;
};

// Lists in order of arrival: one per bank, or a single one for all banks. Entries live in a pool that grows when an
// unlimited queue needs it.
class DramRequestQueue {
 public:
  // One list per bank, or a single list if `banks` is 1.
  DramRequestQueue(uint32_t banks, uint32_t expected);

  uint32_t size() const { return size_; }
  // Lists that are not empty.
  uint64_t waiting() const { return waiting_; }
  void Push(uint32_t list, const DramRequest& request, uint64_t arrival);
  // The oldest entry of a list that is not empty.
  const DramQueueEntry& Oldest(uint32_t list) const { return pool_[lists_[list].first]; }
  // Takes the oldest.
  DramQueueEntry TakeOldest(uint32_t list) { return Take(list, kNone); }
  // Takes the oldest request to `row` and counts for all older ones that they were passed; if there is none, or if the
  // oldest of all has been passed `cap` times (0 = no cap), takes the oldest. `capped`: the cap decided.
  DramQueueEntry TakeFirstReady(uint32_t list, uint32_t row, uint32_t cap, bool& capped);

 private:
  struct List {
    uint32_t first = kNone;
    uint32_t last = kNone;
  };
  static constexpr uint32_t kNone = ~uint32_t{0};

  // Takes the entry after `before`, the oldest if that is kNone.
  DramQueueEntry Take(uint32_t list, uint32_t before);

  std::vector<DramQueueEntry> pool_;
  std::vector<List> lists_;
  uint32_t free_ = kNone;
  uint32_t size_ = 0;
  uint64_t waiting_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_DRAM_DRAM_REQUEST_QUEUE_H_
