#include "replay/memory/sm/remote_port.h"

namespace heddle::replay {

Cycle RemotePort::Send(const PlannedAccess& access, const AccessStep& step, Cycle now) {
  RemoteAccess request;
  request.from = sm_;
  request.to = static_cast<uint32_t>(step.address);
  request.record = access.record;
  request.lanes = step.lanes;
  request.store = access.op == trace::v1::OP_STORE;
  request.request_bytes = access.op == trace::v1::OP_LOAD ? 0 : step.bytes;
  request.reply_bytes = request.store ? 0 : step.bytes;
  request.passes = step.passes;
  ++outstanding_;
  return network_->Send(request, now);
}

void RemotePort::TakeReplies(AccessTable& accesses, Cycle now) {
  outstanding_ -= static_cast<uint32_t>(arrived_.size());
  for (const RemoteAccess& reply : arrived_) {
    if (reply.store) {
      accesses.Acknowledge(reply.record, now);
    } else {
      accesses.Deliver({reply.record, reply.lanes}, now, /*returned=*/true);
    }
  }
  arrived_.clear();
}

}  // namespace heddle::replay
