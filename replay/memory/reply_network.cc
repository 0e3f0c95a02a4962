#include "replay/memory/reply_network.h"

namespace heddle::replay {

ReplyNetwork::ReplyNetwork(const machine::v1::Machine& machine, uint32_t slices, PartitionTime& time)
    : time_(time),
      crossbar_(slices, PortsOf(machine), machine.memory().hierarchy().network(),
                2 * machine.memory().hierarchy().network().seed() + 1),
      blocked_(slices),
      taken_(PortsOf(machine)),
      with_reply_(PortsOf(machine)),
      jitter_(0, 0, 0),
      sizes_(machine.memory().hierarchy().network()),
      sms_(machine.sms()),
      sms_per_port_(machine.memory().hierarchy().network().sms_per_port()),
      slices_(slices),
      config_(machine.memory().hierarchy().network()) {}

void ReplyNetwork::Flush() {
  crossbar_ = Crossbar(slices_, static_cast<uint32_t>(taken_.size()), config_, 2 * config_.seed() + 1);
}

void ReplyNetwork::BeginLaunch(const Jitter& jitter) {
  crossbar_.BeginLaunch();
  crossbar_.ResetCounters();
  blocked_.Clear();
  std::fill(taken_.begin(), taken_.end(), 0);
  with_reply_.Clear();
  ports_with_reply_ = 0;
  jitter_ = jitter;
  if (jitter_.on()) delayed_.emplace(sms_);
}

bool ReplyNetwork::Send(uint32_t slice, const MemoryRequest& reply) {
  const uint32_t flits = crossbar_.FlitsOf(sizes_.Down(reply));
  const uint32_t port = reply.sm / sms_per_port_;
  if (!crossbar_.HasRoom(slice, port, flits)) {
    blocked_.Add(slice, port, flits);
    return false;
  }
  const Edge edge = time_.clocks().Soonest(Domain::kNetwork);
  crossbar_.Push(slice, port, reply, flits, edge);
  time_.network().Wake(PartitionTime::kDown, edge);
  return true;
}

void ReplyNetwork::Arrived(uint32_t port) {
  if (delayed_) {
    // The cycle in which it would be seen, and the noise.
    while (const MemoryRequest* reply = crossbar_.Peek(port)) {
      delayed_->Add(*reply, time_.clocks().Soonest(Domain::kCore) + jitter_.Next());
      crossbar_.Pop(port, time_.clocks().Soonest(Domain::kNetwork));
    }
    return;
  }
  ports_with_reply_ += with_reply_.Contains(port) ? 0 : 1;
  with_reply_.Insert(port);
}

void ReplyNetwork::Take(uint32_t sm, uint32_t port) {
  if (delayed_) return delayed_->TakeReply(sm);
  taken_[port] = time_.core_cycle() + 1;
  Pop(port);
}

void ReplyNetwork::Pop(uint32_t port) {
  const Edge edge = time_.clocks().Soonest(Domain::kNetwork);
  crossbar_.Pop(port, edge);
  if (crossbar_.has_work()) time_.network().Wake(PartitionTime::kDown, edge);
  if (crossbar_.Peek(port) == nullptr) {
    with_reply_.Erase(port);
    --ports_with_reply_;
  }
}

}  // namespace heddle::replay
