// An SM's end of the network to the memory partitions.
#ifndef HEDDLE_REPLAY_MEMORY_NETWORK_PORT_H_
#define HEDDLE_REPLAY_MEMORY_NETWORK_PORT_H_

#include "replay/memory/memory_request.h"

namespace heddle::replay {

// Used by the SM in its own cycle only. Several SMs may share a port of the network; a reply is shown only to the SM
// that it is for.
class NetworkPort {
 public:
  virtual ~NetworkPort() = default;
  // Whether Send may be called with this request now. If not, the SM is woken when room has been made.
  virtual bool HasRoom(const MemoryRequest& request) = 0;
  // Sends a request; `slice` is filled in here.
  virtual void Send(const MemoryRequest& request) = 0;
  // The reply that has come for this SM, null if none. The SM is woken when one comes, and while one is left.
  virtual const MemoryRequest* Reply() const = 0;
  virtual void TakeReply() = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_NETWORK_PORT_H_
