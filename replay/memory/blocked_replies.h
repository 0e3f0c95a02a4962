// Replies of slices that found no room in the network.
#ifndef HEDDLE_REPLAY_MEMORY_BLOCKED_REPLIES_H_
#define HEDDLE_REPLAY_MEMORY_BLOCKED_REPLIES_H_

#include <cstdint>
#include <vector>

#include "replay/memory/network/crossbar.h"
#include "replay/memory/network/port_set.h"

namespace heddle::replay {

// At most one per slice, which has not been told of any room since.
class BlockedReplies {
 public:
  explicit BlockedReplies(uint32_t slices) : blocked_(slices), replies_(slices) {}

  void Clear() {
    blocked_.Clear();
    count_ = 0;
  }
  // A reply of the slice, of `flits` flits and for `port`, is blocked.
  void Add(uint32_t slice, uint32_t port, uint32_t flits) {
    blocked_.Insert(slice);
    replies_[slice] = {port, flits};
    ++count_;
  }
  // Calls tell(slice) for each that has room in the crossbar now, of those at whose inputs room was made since the last
  // call; these are not blocked any more.
  template <typename Tell>
  void TakeRoomMade(Crossbar& crossbar, Tell tell) {
    if (count_ == 0) {
      crossbar.ForgetRoomMade();
      return;
    }
    crossbar.TakeRoomMade(blocked_, [&](uint32_t slice) {
      // A message leaves flit by flit; the reply waits until there is room for all of it.
      const Reply& reply = replies_[slice];
      if (!crossbar.HasRoom(slice, reply.port, reply.flits)) return;
      tell(slice);
      blocked_.Erase(slice);
      --count_;
    });
  }

 private:
  struct Reply {
    uint32_t port = 0;
    uint32_t flits = 0;
  };

  uint32_t count_ = 0;
  PortSet blocked_;             // slices
  std::vector<Reply> replies_;  // by slice
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_BLOCKED_REPLIES_H_
