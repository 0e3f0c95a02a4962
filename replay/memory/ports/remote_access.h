// Accesses to the shared memory of other blocks of a cluster, from SM to SM.
#ifndef HEDDLE_REPLAY_MEMORY_PORTS_REMOTE_ACCESS_H_
#define HEDDLE_REPLAY_MEMORY_PORTS_REMOTE_ACCESS_H_

#include <algorithm>
#include <cstdint>

#include "proto/machine.pb.h"
#include "proto/trace.pb.h"
#include "replay/seams/types.h"

namespace heddle::replay {

// What the machine says of the network between the SMs of a cluster, with the usual numbers where it says nothing.
struct ClusterTiming {
  explicit ClusterTiming(const machine::v1::Clusters& clusters)
      : network_cycles(clusters.network_cycles() == 0 ? 74 : clusters.network_cycles()),
        network_bytes(clusters.network_bytes() == 0 ? 16 : clusters.network_bytes()) {}

  // Cycles in which a message with so many bytes of data leaves an SM, or enters one.
  Cycle CyclesOf(uint32_t bytes) const {
    return std::max<Cycle>(1, (Cycle{bytes} + network_bytes - 1) / network_bytes);
  }

  Cycle network_cycles;
  uint32_t network_bytes;
};

// What lanes of one instruction ask of the shared memory of one SM. The reply is the request itself.
struct RemoteAccess {
  uint32_t from = 0;    // SM that asks
  uint32_t to = 0;      // SM that has the shared memory
  uint32_t record = 0;  // the asking SM's own; comes back unchanged, as do the lanes
  LaneMask lanes = 0;
  bool store = false;  // is answered with an acknowledgement, others with data
  uint32_t request_bytes = 0;
  uint32_t reply_bytes = 0;
  uint32_t passes = 0;  // in the banks
  Cycle sent = 0;       // set when it is sent
};

// The way into the network.
class RemoteNetwork {
 public:
  virtual ~RemoteNetwork() = default;
  // Sends a request in cycle `now`; calls come in order of time. Returns the cycles in which it leaves the SM if
  // nothing is in front of it.
  virtual Cycle Send(const RemoteAccess& access, Cycle now) = 0;
};

// Who gets the replies.
class RemoteClient {
 public:
  virtual ~RemoteClient() = default;
  // A reply is there in the core cycle that the engine is about to run.
  virtual void RemoteReply(const RemoteAccess& access) = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PORTS_REMOTE_ACCESS_H_
