// An SM's end of the network between the SMs and the memory partitions.
#ifndef HEDDLE_REPLAY_MEMORY_PARTITIONED_PORT_H_
#define HEDDLE_REPLAY_MEMORY_PARTITIONED_PORT_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "replay/memory/partitioned_back_end.h"
#include "replay/memory/ports/network_port.h"

namespace heddle::replay {

// Routes and sends the requests of an SM, and hands its replies to it. Several SMs may share a port of the network
// (`PortTurns` says who goes first).
class alignas(64) PartitionedBackEnd::Port final : public NetworkPort {
 public:
  // Who runs every cycle wants to run all of it.
  Port(PartitionedBackEnd& memory, uint32_t sm)
      : NetworkPort(/*announces=*/!memory.force_tick_, /*shared=*/memory.sms_per_port_ > 1),
        memory_(memory),
        sm_(sm),
        port_(memory.PortOf(sm)) {}

  bool HasRoom(const MemoryRequest& request) override {
    Route(request);
    const Blocked blocked{slice_, flits_};
    if (CanSend(blocked)) return true;
    if (memory_.turns_) memory_.turns_->Wait(port_, BufferOf(slice_), sm_);
    memory_.waiting_for_room_ += memory_.waits_for_room_[sm_] == 0;
    memory_.waits_for_room_[sm_] = 1;
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
    memory_.port_counters_.CountRequest(sent);
    ++memory_.requests_under_way_;
    Time& time = *memory_.time_;
    const Edge edge = time.clocks.Soonest(Domain::kNetwork);
    memory_.parts_->up.Push(port_, slice_, sent, flits_, edge);
    if (memory_.turns_) memory_.turns_->Sent(port_, BufferOf(slice_));
    time.network.Wake(kUp, edge);
  }

  const MemoryRequest* Reply() const override {
    if (memory_.delayed_) return memory_.delayed_->Reply(sm_, memory_.now_);
    if (memory_.reply_taken_[port_] == memory_.now_ + 1) return nullptr;
    const MemoryRequest* reply = memory_.parts_->down.Peek(port_);
    return reply != nullptr && reply->sm == sm_ ? reply : nullptr;
  }

  void TakeReply() override {
    --memory_.requests_under_way_;
    ++memory_.port_counters_.replies;
    if (memory_.delayed_) return memory_.delayed_->TakeReply(sm_);
    memory_.reply_taken_[port_] = memory_.now_ + 1;
    memory_.PopReply(port_);
  }

 private:
  // Where the request goes, kept for the Send that follows HasRoom.
  void Route(const MemoryRequest& request) {
    if (request.address != address_ || flits_ == 0) {
      address_ = request.address;
      slice_ = memory_.map_.SliceOf(request.address);
    }
    flits_ = memory_.parts_->up.FlitsOf(memory_.BytesUp(request));
  }
  uint32_t BufferOf(uint32_t slice) const { return slice % memory_.buffers_per_port_; }

  struct Blocked {
    uint32_t slice = 0;
    uint32_t flits = 0;
    bool operator==(const Blocked&) const = default;
  };
  // Whether it is this SM's turn, and there is room.
  bool CanSend(const Blocked& request) const {
    if (memory_.turns_ && !memory_.turns_->MaySend(port_, BufferOf(request.slice), sm_)) return false;
    return memory_.parts_->up.HasRoom(port_, request.slice, request.flits);
  }

  PartitionedBackEnd& memory_;
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
