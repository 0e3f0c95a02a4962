// An SM's end of the network between the SMs and the memory partitions.
#ifndef HEDDLE_REPLAY_MEMORY_PARTITIONED_PORT_H_
#define HEDDLE_REPLAY_MEMORY_PARTITIONED_PORT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "replay/memory/address_map.h"
#include "replay/memory/ports/back_end.h"
#include "replay/memory/ports/network_port.h"
#include "replay/memory/reply_network.h"
#include "replay/memory/request_network.h"

namespace heddle::replay {

// Routes and sends the requests of an SM, and hands its replies to it.
class alignas(64) PartitionedPort final : public NetworkPort {
 public:
  // All references outlive this. `announces` and `shared` as for NetworkPort.
  PartitionedPort(const AddressMap& map, RequestNetwork& requests, ReplyNetwork& replies, PortCounters& counters,
                  uint32_t sm, bool announces, bool shared)
      : NetworkPort(announces, shared),
        map_(map),
        requests_(requests),
        replies_(replies),
        counters_(counters),
        sm_(sm),
        port_(requests.PortOf(sm)) {}

  bool HasRoom(const MemoryRequest& request) override {
    Route(request);
    const Blocked blocked{slice_, flits_};
    if (CanSend(blocked)) return true;
    requests_.WaitForRoom(sm_, port_, slice_);
    const auto last = blocked_.begin() + std::min<size_t>(blocked_count_, blocked_.size());
    if (std::find(blocked_.begin(), last, blocked) == last) {
      if (last != blocked_.end()) *last = blocked;
      ++blocked_count_;
    }
    return false;
  }

  // Whether one of the requests that found no room since the SM was woken last would find some now.
  bool RoomWasMade() {
    const auto last = blocked_.begin() + std::min<size_t>(blocked_count_, blocked_.size());
    const bool made = blocked_count_ > blocked_.size() ||
                      std::any_of(blocked_.begin(), last, [&](const Blocked& b) { return CanSend(b); });
    if (made) blocked_count_ = 0;
    return made;
  }

  void Send(const MemoryRequest& request) override {
    Route(request);
    MemoryRequest sent = request;
    sent.sm = static_cast<uint16_t>(sm_);
    sent.slice = static_cast<uint16_t>(slice_);
    counters_.CountRequest(sent);
    requests_.Send(sent, port_, flits_);
  }

  const MemoryRequest* Reply() const override { return replies_.Reply(sm_, port_); }

  void TakeReply() override {
    ++counters_.replies;
    replies_.Take(sm_, port_);
  }

 private:
  struct Blocked {
    uint32_t slice = 0;
    uint32_t flits = 0;
    bool operator==(const Blocked&) const = default;
  };

  // Where the request goes, kept for the Send that follows HasRoom.
  void Route(const MemoryRequest& request) {
    if (request.address != address_ || flits_ == 0) {
      address_ = request.address;
      slice_ = map_.SliceOf(request.address);
    }
    flits_ = requests_.FlitsOf(request);
  }
  bool CanSend(const Blocked& request) const { return requests_.CanSend(sm_, port_, request.slice, request.flits); }

  const AddressMap& map_;
  RequestNetwork& requests_;
  ReplyNetwork& replies_;
  PortCounters& counters_;
  const uint32_t sm_;
  const uint32_t port_;
  uint64_t address_ = 0;
  uint32_t slice_ = 0;
  uint32_t flits_ = 0;  // 0: nothing was routed yet
  // What found no room: one of each first-level cache at most, unless the SM changes its mind. A larger count than the
  // array has places means that not all are known.
  size_t blocked_count_ = 0;
  std::array<Blocked, kFirstLevels> blocked_{};
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PARTITIONED_PORT_H_
