#include "replay/memory/sm/network_interface.h"

namespace heddle::replay {

NetworkInterface::NetworkInterface(NetworkPort& port, uint32_t sm, const std::array<uint32_t, kFirstLevels>& lengths)
    : port_(port), sm_(static_cast<uint16_t>(sm)) {
  for (int level = 0; level < kFirstLevels; ++level) queues_[level] = Ring<MemoryRequest>(lengths[level]);
}

void NetworkInterface::Queue(FirstLevel level, RequestKind kind, uint64_t address, uint32_t bytes, uint32_t tag,
                             uint32_t passes) {
  const int index = static_cast<int>(level);
  queues_[index].push_back({.address = address,
                            .tag = tag,
                            .bytes = static_cast<uint16_t>(bytes),
                            .sm = sm_,
                            .kind = kind,
                            .cache = level,
                            .passes = static_cast<uint8_t>(passes)});
  queued_ |= static_cast<uint8_t>(1u << index);
  ++outstanding_;
  ++requests_[index][static_cast<int>(kind)];
  request_bytes_[index] += bytes;
}

void NetworkInterface::QueueFetch(FirstLevel level, const CacheOutcome& outcome, uint64_t line, uint32_t line_bits,
                                  uint64_t base) {
  Queue(level, RequestKind::kRead, base + (line << line_bits), 1u << line_bits, outcome.entry);
  if (outcome.eviction.dirty) {
    Queue(level, RequestKind::kWrite, outcome.eviction.line << line_bits, 1u << line_bits, kNobody);
  }
}

bool NetworkInterface::Send() {
  for (uint32_t turn = 1; turn <= kFirstLevels; ++turn) {
    const uint32_t index = (last_sent_ + turn) % kFirstLevels;
    if ((queued_ >> index & 1) == 0) continue;
    Ring<MemoryRequest>& queue = queues_[index];
    if (!port_.HasRoom(queue.front())) continue;
    port_.Send(queue.front());
    queue.pop_front();
    if (queue.empty()) queued_ &= static_cast<uint8_t>(~(1u << index));
    last_sent_ = static_cast<uint8_t>(index);
    return true;
  }
  return false;
}

bool NetworkInterface::CanSend() {
  bool can_send = false;
  for (uint32_t mask = queued_; mask != 0; mask &= mask - 1) {
    can_send |= port_.HasRoom(queues_[std::countr_zero(mask)].front());
  }
  return can_send;
}

void NetworkInterface::AddTo(SmMemoryCounters& counters) const {
  for (int level = 0; level < kFirstLevels; ++level) {
    for (int kind = 0; kind < kRequestKinds; ++kind) counters.level[level].requests[kind] += requests_[level][kind];
    counters.level[level].request_bytes += request_bytes_[level];
  }
  counters.replies += replies_;
}

}  // namespace heddle::replay
