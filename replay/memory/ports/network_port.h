// An SM's end of the network to the memory partitions.
#ifndef HEDDLE_REPLAY_MEMORY_PORTS_NETWORK_PORT_H_
#define HEDDLE_REPLAY_MEMORY_PORTS_NETWORK_PORT_H_

#include <utility>

#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// Used by the SM in its own cycle only. Several SMs may share a port of the network; a reply is shown only to the SM
// that it is for.
class NetworkPort {
 public:
  // `announces`: the port calls NoteWakeup whenever it wakes the SM. `shared`: other SMs use it, too, so that HasRoom
  // may give the SM a place in their line.
  explicit NetworkPort(bool announces = false, bool shared = false) : announces_(announces), shared_(shared) {}
  virtual ~NetworkPort() = default;
  // Whether Send may be called with this request now. If not, the SM is woken when room has been made.
  virtual bool HasRoom(const MemoryRequest& request) = 0;
  // Sends a request; `slice` is filled in here.
  virtual void Send(const MemoryRequest& request) = 0;
  // The reply that has come for this SM, null if none. The SM is woken when one comes, and while one is left.
  virtual const MemoryRequest* Reply() const = 0;
  virtual void TakeReply() = 0;

  bool shared() const { return shared_; }
  // The SM is being woken: a reply is there for it, or room for a request.
  void NoteWakeup() { wakeup_ = true; }
  // Whether the SM may have been woken since the last call.
  bool TakeWakeup() { return !announces_ || std::exchange(wakeup_, false); }

 private:
  const bool announces_;
  const bool shared_;
  bool wakeup_ = false;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_PORTS_NETWORK_PORT_H_
