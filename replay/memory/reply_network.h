// The way of replies from the L2 slices to the SMs.
#ifndef HEDDLE_REPLAY_MEMORY_REPLY_NETWORK_H_
#define HEDDLE_REPLAY_MEMORY_REPLY_NETWORK_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/blocked_replies.h"
#include "replay/memory/jitter.h"
#include "replay/memory/message_sizes.h"
#include "replay/memory/network/crossbar.h"
#include "replay/memory/network/delayed_replies.h"
#include "replay/memory/network/port_set.h"
#include "replay/memory/partition_time.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// A crossbar, and behind it, with jitter, the noise. Of the SMs that share a port one takes a reply per cycle.
class ReplyNetwork {
 public:
  // `time` outlives this.
  ReplyNetwork(const machine::v1::Machine& machine, uint32_t slices, PartitionTime& time);

  // As if nothing had ever passed; nothing may be under way.
  void Flush();
  // Nobody waits, and nothing was counted; `jitter` is that of the launch.
  void BeginLaunch(const Jitter& jitter);

  // A slice sends a reply. False if there is no room: Run tells when there is some.
  bool Send(uint32_t slice, const MemoryRequest& reply);
  // Runs one edge. Calls has_room(slice) for slices whose reply was blocked and would find room now.
  template <typename HasRoom>
  void Run(Edge edge, HasRoom has_room) {
    crossbar_.Tick(edge);
    crossbar_.TakeArrivals([&](uint32_t port) { Arrived(port); });
    blocked_.TakeRoomMade(crossbar_, has_room);
  }
  // Whether there is something to do at the next edge.
  bool has_work() const { return crossbar_.has_work(); }

  // The reply that an SM can take in the core's cycle, null if there is none.
  const MemoryRequest* Reply(uint32_t sm, uint32_t port) const {
    if (delayed_) return delayed_->Reply(sm, time_.core_cycle());
    if (taken_[port] == time_.core_cycle() + 1) return nullptr;
    const MemoryRequest* reply = crossbar_.Peek(port);
    return reply != nullptr && reply->sm == sm ? reply : nullptr;
  }
  // The SM takes it.
  void Take(uint32_t sm, uint32_t port);
  // Calls wake(sm) for the SMs that have a reply to take in the core's cycle.
  template <typename Wake>
  void WakeSms(Wake wake) {
    if (delayed_) delayed_->Wake(time_.core_cycle(), wake);
    if (ports_with_reply_ == 0) return;
    with_reply_.ForEach([&](uint32_t port) { wake(crossbar_.Peek(port)->sm); });
  }
  // The core's cycle before which WakeSms has something to do; kNever if there is none.
  Cycle NextWake() const {
    const Cycle next = delayed_ ? delayed_->next() : kNever;
    return ports_with_reply_ != 0 ? std::min(next, time_.core_cycle() + 1) : next;
  }

  void Settle(Edge edge) { crossbar_.Settle(edge); }
  const Crossbar& crossbar() const { return crossbar_; }

 private:
  // The oldest reply at the port can be taken.
  void Arrived(uint32_t port);
  // The oldest reply at the port was taken.
  void Pop(uint32_t port);

  PartitionTime& time_;
  Crossbar crossbar_;
  BlockedReplies blocked_;
  std::vector<Cycle> taken_;  // by port: the last core cycle in which a reply was taken, plus 1
  PortSet with_reply_;        // ports
  uint32_t ports_with_reply_ = 0;
  Jitter jitter_;
  std::optional<DelayedReplies> delayed_;  // with jitter
  const MessageSizes sizes_;
  const uint32_t sms_;
  const uint32_t sms_per_port_;
  const uint32_t slices_;
  const machine::v1::Network config_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_REPLY_NETWORK_H_
