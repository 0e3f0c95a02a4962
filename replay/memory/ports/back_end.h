// What lies behind the first-level caches: all that the SMs share.
#ifndef HEDDLE_REPLAY_MEMORY_PORTS_BACK_END_H_
#define HEDDLE_REPLAY_MEMORY_PORTS_BACK_END_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "proto/result.pb.h"
#include "replay/memory/ports/memory_system.h"
#include "replay/memory/ports/network_port.h"

namespace heddle::replay {

// Requests that went over the network ports of the SMs, and replies that the SMs took.
struct PortCounters {
  uint64_t reads = 0;
  uint64_t writes = 0;
  uint64_t atomics = 0;
  uint64_t read_bytes = 0;  // asked for
  uint64_t write_bytes = 0;
  uint64_t atomic_bytes = 0;
  uint64_t replies = 0;

  uint64_t requests() const { return reads + writes + atomics; }
  void CountRequest(const MemoryRequest& request) {
    switch (request.kind) {
      case RequestKind::kRead:
        ++reads;
        read_bytes += request.bytes;
        break;
      case RequestKind::kWrite:
        ++writes;
        write_bytes += request.bytes;
        break;
      case RequestKind::kAtomic:
        ++atomics;
        atomic_bytes += request.bytes;
        break;
    }
  }
};

// Bytes of the device's memory, both ends included.
struct AddressRange {
  uint64_t first = 0;
  uint64_t last = 0;
};

// Over all launches of a run; MemorySystem has the rules of the calls.
class MemoryBackEnd {
 public:
  virtual ~MemoryBackEnd() = default;
  // Between launches: lines with a byte of the ranges are dropped, without being written. Overrides keep the ranges.
  virtual void Invalidate(std::vector<AddressRange> /*ranges*/) {}  // NOLINT(performance-unnecessary-value-param)
  // A launch begins at core cycle 0. `number` counts the launches of the run.
  virtual void BeginLaunch(uint64_t number) = 0;
  // The port of an SM, for all launches.
  virtual NetworkPort& port(uint32_t sm) = 0;
  virtual Cycle NextEvent() const = 0;
  // Called before every core cycle that is run.
  virtual void Advance(Cycle now, SmWaker& waker) = 0;
  // No request is without its reply, and no write is on its way to DRAM.
  virtual bool drained() const = 0;
  virtual const PortCounters& port_counters() const = 0;
  // Checks the components against one another and writes their counters. Errors: Internal, naming component and
  // counter.
  virtual absl::Status EndLaunch(Cycle end, result::v1::LaunchResult& result) = 0;
  // MemorySystem::BeginSampling.
  virtual void BeginSampling() {}
  // Adds what was counted so far.
  virtual void AddSample(MemorySample& /*out*/) const {}
  // MemorySystem::served_requests.
  virtual uint64_t served_requests() const { return 0; }
  virtual std::string Explain() const = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PORTS_BACK_END_H_
