// What a slice of the L2 is connected to.
#ifndef HEDDLE_REPLAY_MEMORY_L2_L2_SLICE_LINKS_H_
#define HEDDLE_REPLAY_MEMORY_L2_L2_SLICE_LINKS_H_

#include <cstdint>

#include "replay/memory/ports/clock_domains.h"
#include "replay/memory/ports/memory_request.h"

namespace heddle::replay {

// What a slice is connected to. All calls concern the edge that is being run.
class L2SliceLinks {
 public:
  virtual ~L2SliceLinks() = default;
  // The request that has come over the network for slice `slice`, null if none.
  virtual const MemoryRequest* Arrived(uint32_t slice) const = 0;
  // Takes it.
  virtual void TakeArrived(uint32_t slice) = 0;
  // Sends a reply into the network; false if that has no room: the slice is told (NetworkHasRoom), and run again, when
  // it has.
  virtual bool SendReply(uint32_t slice, const MemoryRequest& reply) = 0;
  // A job was put at the end of the slice's DRAM queue.
  virtual void DramJobQueued(uint32_t slice, Edge ready) = 0;
  // The number of the line among those of the slice, for the choice of the set.
  virtual uint64_t LineWithinSlice(uint64_t address) const = 0;
  // The first edge of the L2 at which a request that is taken in now may be looked at (`rop_cycles`), and the first
  // edge of the DRAM at which a job that is queued now may be taken (`dram_pipe_cycles`).
  virtual Edge AfterRop() = 0;
  virtual Edge AfterDramPipe() = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_L2_L2_SLICE_LINKS_H_
