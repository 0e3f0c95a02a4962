// The way of requests from the SMs to the L2 slices.
#ifndef HEDDLE_REPLAY_MEMORY_REQUEST_NETWORK_H_
#define HEDDLE_REPLAY_MEMORY_REQUEST_NETWORK_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "proto/machine.pb.h"
#include "replay/memory/message_sizes.h"
#include "replay/memory/network/crossbar.h"
#include "replay/memory/network/port_turns.h"
#include "replay/memory/partition_time.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// A crossbar, and the SMs that wait for room in it. Several SMs may share a port (`PortTurns` says who goes first).
class RequestNetwork {
 public:
  // `time` outlives this.
  RequestNetwork(const machine::v1::Machine& machine, uint32_t slices, PartitionTime& time);

  // As if nothing had ever passed; nothing may be under way.
  void Flush();
  // Nobody waits, and nothing was counted.
  void BeginLaunch();

  uint32_t ports() const { return ports_; }
  uint32_t slices() const { return slices_; }
  uint32_t PortOf(uint32_t sm) const { return sm / sms_per_port_; }
  uint32_t FlitsOf(const MemoryRequest& request) const { return crossbar_.FlitsOf(sizes_.Up(request)); }
  // Whether it is the SM's turn, and there is room for a message of `flits` flits to the slice.
  bool CanSend(uint32_t sm, uint32_t port, uint32_t slice, uint32_t flits) const {
    if (turns_ && !turns_->MaySend(port, BufferOf(slice), sm)) return false;
    return crossbar_.HasRoom(port, slice, flits);
  }
  // It was not: the SM waits for room, and for its turn.
  void WaitForRoom(uint32_t sm, uint32_t port, uint32_t slice) {
    if (turns_) turns_->Wait(port, BufferOf(slice), sm);
    waiting_ += waits_[sm] == 0;
    waits_[sm] = 1;
  }
  // Sends a request, which CanSend allows.
  void Send(const MemoryRequest& request, uint32_t port, uint32_t flits) {
    const Edge edge = time_.clocks().Soonest(Domain::kNetwork);
    crossbar_.Push(port, request.slice, request, flits, edge);
    if (turns_) turns_->Sent(port, BufferOf(request.slice));
    time_.network().Wake(PartitionTime::kUp, edge);
  }

  // Runs one edge. Calls arrived(slice) for slices to which a request has come.
  template <typename Arrived>
  void Run(Edge edge, Arrived arrived) {
    crossbar_.Tick(edge);
    crossbar_.TakeArrivals(arrived);
  }
  // After Run: calls wake(sm) for the SMs that wait and may have room now. It says whether the SM has some, which does
  // not wait any more then.
  template <typename Wake>
  void TakeRoomMade(Wake wake) {
    if (waiting_ == 0 && !turns_) {
      crossbar_.ForgetRoomMade();
      return;
    }
    crossbar_.TakeRoomMade([&](uint32_t port) {
      if (turns_) turns_->RoomMade(port);
      const uint32_t last = std::min<uint32_t>((port + 1) * sms_per_port_, static_cast<uint32_t>(waits_.size()));
      for (uint32_t sm = port * sms_per_port_; sm < last; ++sm) {
        if (waits_[sm] == 0 || !wake(sm)) continue;
        waits_[sm] = 0;
        --waiting_;
      }
    });
  }
  // Whether there is something to do at the next edge.
  bool has_work() const { return crossbar_.has_work(); }

  // The request that has come for a slice, null if none.
  const MemoryRequest* Peek(uint32_t slice) const { return crossbar_.Peek(slice); }
  // How many have come.
  uint32_t Whole(uint32_t slice) const { return crossbar_.Whole(slice); }
  // The slice takes the request at the network's edge `edge`, and its room is free again.
  void Take(uint32_t slice, Edge edge) { crossbar_.Pop(slice, edge); }

  void Settle(Edge edge) { crossbar_.Settle(edge); }
  const Crossbar& crossbar() const { return crossbar_; }
  const MessageSizes& sizes() const { return sizes_; }

 private:
  uint32_t BufferOf(uint32_t slice) const { return slice % buffers_per_port_; }

  PartitionTime& time_;
  Crossbar crossbar_;
  std::optional<PortTurns> turns_;  // where SMs share a port
  std::vector<uint8_t> waits_;      // by SM: for room
  uint32_t waiting_ = 0;            // SMs
  const MessageSizes sizes_;
  const uint32_t sms_per_port_;
  const uint32_t buffers_per_port_;
  const uint32_t ports_;
  const uint32_t slices_;
  const machine::v1::Network config_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_REQUEST_NETWORK_H_
