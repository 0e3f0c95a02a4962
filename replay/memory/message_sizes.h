// How large the messages of the network are.
#ifndef HEDDLE_REPLAY_MEMORY_MESSAGE_SIZES_H_
#define HEDDLE_REPLAY_MEMORY_MESSAGE_SIZES_H_

#include <cstdint>

#include "proto/machine.pb.h"
#include "replay/memory/ports/back_end.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// Ports of the network at the side of the SMs, of which several may share one.
inline uint32_t PortsOf(const machine::v1::Machine& machine) {
  return (machine.sms() - 1) / machine.memory().hierarchy().network().sms_per_port() + 1;
}

// In bytes: data have a header, a message without data has a size of its own.
class MessageSizes {
 public:
  explicit MessageSizes(const machine::v1::Network& network)
      : header_(network.header_bytes()), control_(network.control_bytes()) {}

  // Of a request on its way to the memory.
  uint32_t Up(const MemoryRequest& request) const {
    return request.kind == RequestKind::kRead ? control_ : header_ + request.bytes;
  }
  // Of a reply on its way to the SMs.
  uint32_t Down(const MemoryRequest& reply) const {
    return reply.kind == RequestKind::kWrite ? control_ : header_ + reply.bytes;
  }
  // Of all requests that were counted, and of the replies to them.
  uint64_t Up(const PortCounters& sent) const {
    return sent.reads * control_ + (sent.writes + sent.atomics) * header_ + sent.write_bytes + sent.atomic_bytes;
  }
  uint64_t Down(const PortCounters& sent) const {
    return sent.writes * control_ + (sent.reads + sent.atomics) * header_ + sent.read_bytes + sent.atomic_bytes;
  }

 private:
  const uint32_t header_;
  const uint32_t control_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_MESSAGE_SIZES_H_
