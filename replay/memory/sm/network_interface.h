// The queues of an SM's requests on their way to the network, and its replies.
#ifndef HEDDLE_REPLAY_MEMORY_SM_NETWORK_INTERFACE_H_
#define HEDDLE_REPLAY_MEMORY_SM_NETWORK_INTERFACE_H_

#include <array>
#include <bit>
#include <cstdint>

#include "proto/machine.pb.h"
#include "replay/memory/cache/cache.h"
#include "replay/memory/ports/memory_request.h"
#include "replay/memory/ports/network_port.h"
#include "replay/memory/sm/sm_memory_counters.h"
#include "traces/base/ring.h"

namespace heddle::replay {

// A miss queue for each first-level cache, from which misses and writes leave in turn, at most one per cycle.
class NetworkInterface {
 public:
  // `port` outlives this. The lengths of the queues are those of the caches' configurations, by FirstLevel.
  NetworkInterface(NetworkPort& port, uint32_t sm, const std::array<uint32_t, kFirstLevels>& lengths);

  uint32_t sm() const { return sm_; }
  // Whether the port has had news for the SM since the last call.
  bool TakeWakeup() { return port_.TakeWakeup(); }
  // Whether other SMs use the port, too.
  bool shared() const { return port_.shared(); }

  // Free places in the miss queue of a cache.
  uint32_t room(FirstLevel level) const { return queues_[static_cast<int>(level)].room(); }
  bool full(FirstLevel level) const { return queues_[static_cast<int>(level)].full(); }
  const Ring<MemoryRequest>& queue(FirstLevel level) const { return queues_[static_cast<int>(level)]; }
  // Puts a request into the queue of its cache, which has room.
  void Queue(FirstLevel level, RequestKind kind, uint64_t address, uint32_t bytes, uint32_t tag, uint32_t passes = 1);
  // Queues what a miss needs: the line, for the MSHR of the outcome, and the write of a dirty one that it displaced.
  // Lines have 2^line_bits bytes; `base`: where line 0 is for the memory behind the cache.
  void QueueFetch(FirstLevel level, const CacheOutcome& outcome, uint64_t line, uint32_t line_bits, uint64_t base);
  // Tag of a request whose reply nobody waits for.
  static constexpr uint32_t kNobody = ~uint32_t{0};

  // Whether a request waits to be sent.
  bool has_queued() const { return queued_ != 0; }
  // Sends a request, if one finds room. Whether one did.
  bool Send();
  // Whether one would. Asks the port for the first of every queue, so that it wakes the SM for any of them.
  bool CanSend();

  // Requests that were queued and have had no reply.
  uint32_t outstanding() const { return outstanding_; }
  // The reply that has come, null if none.
  const MemoryRequest* Reply() const { return port_.Reply(); }
  void TakeReply() {
    port_.TakeReply();
    --outstanding_;
    ++replies_;
  }

  // Adds requests, their bytes, and replies.
  void AddTo(SmMemoryCounters& counters) const;

 private:
  NetworkPort& port_;
  uint32_t outstanding_ = 0;
  uint8_t queued_ = 0;     // bit mask of levels whose queue is not empty
  uint8_t last_sent_ = 0;  // level
  const uint16_t sm_;
  std::array<Ring<MemoryRequest>, kFirstLevels> queues_;
  std::array<std::array<uint64_t, kRequestKinds>, kFirstLevels> requests_{};
  std::array<uint64_t, kFirstLevels> request_bytes_{};
  uint64_t replies_ = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_NETWORK_INTERFACE_H_
