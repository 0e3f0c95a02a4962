// An SM's end of the network to the shared memory of other blocks of its clusters.
#ifndef HEDDLE_REPLAY_MEMORY_SM_REMOTE_PORT_H_
#define HEDDLE_REPLAY_MEMORY_SM_REMOTE_PORT_H_

#include <cstdint>
#include <vector>

#include "replay/memory/ports/remote_access.h"
#include "replay/memory/sm/access_table.h"
#include "replay/memory/sm/stage_access.h"

namespace heddle::replay {

// Sends a request for each step of that kind, and hands on the replies.
class RemotePort {
 public:
  // Before anything is sent. `network` outlives this.
  void Connect(RemoteNetwork& network, uint32_t sm) {
    network_ = &network;
    sm_ = sm;
  }

  // Sends what a step asks of another SM. Returns the cycles in which it leaves.
  Cycle Send(const PlannedAccess& access, const AccessStep& step, Cycle now);
  // A reply has come, to be taken in this cycle.
  void Arrive(const RemoteAccess& reply) { arrived_.push_back(reply); }
  bool has_arrived() const { return !arrived_.empty(); }
  // Gives the replies to their instructions.
  void TakeReplies(AccessTable& accesses, Cycle now);
  // Requests without a reply that was taken.
  uint32_t outstanding() const { return outstanding_; }

 private:
  RemoteNetwork* network_ = nullptr;
  uint32_t sm_ = 0;
  uint32_t outstanding_ = 0;
  std::vector<RemoteAccess> arrived_;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_SM_REMOTE_PORT_H_
