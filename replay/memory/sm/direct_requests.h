// Requests of an SM that go past the data cache.
#ifndef HEDDLE_REPLAY_MEMORY_SM_DIRECT_REQUESTS_H_
#define HEDDLE_REPLAY_MEMORY_SM_DIRECT_REQUESTS_H_

#include <cstdint>

#include "replay/memory/sm/access_table.h"
#include "traces/base/pool.h"

namespace heddle::replay {

// No MSHR waits for the reply of an atomic, or of a load where there is no data cache: the request names its waiter by
// its tag.
class DirectRequests {
 public:
  // The tag of a request for the waiter.
  uint32_t NewTag(const Waiter& waiter) {
    const uint32_t number = waiters_.Take();
    waiters_[number] = waiter;
    return kDirect | number;
  }
  // Whether a tag is one of these; MSHRs and records have smaller numbers.
  static bool IsTag(uint32_t tag) { return (tag & kDirect) != 0; }
  // The reply has come for this waiter; the tag may be used again.
  Waiter Take(uint32_t tag) {
    waiters_.Give(tag & ~kDirect);
    return waiters_[tag & ~kDirect];
  }
  // Whether no reply is to come.
  bool empty() const { return waiters_.idle(); }

 private:
  static constexpr uint32_t kDirect = uint32_t{1} << 31;

  Pool<Waiter> waiters_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_DIRECT_REQUESTS_H_
