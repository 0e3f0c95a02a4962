// Which input buffers of a crossbar send to which outputs at an edge.
#ifndef HEDDLE_REPLAY_MEMORY_CROSSBAR_ALLOCATOR_H_
#define HEDDLE_REPLAY_MEMORY_CROSSBAR_ALLOCATOR_H_

#include <cstdint>
#include <vector>

#include "replay/memory/bit_set.h"

namespace heddle::replay {

struct CrossbarGrant {
  uint32_t buffer = 0;
  uint32_t output = 0;
};

// Finds a matching between input buffers and outputs: at most one grant per buffer and per output, each of them
// requested.
template <uint32_t kWords>
class CrossbarAllocator {
 public:
  virtual ~CrossbarAllocator() = default;
  // Whether the rows of its requests are the buffers (columns: outputs), or the other way round.
  virtual bool rows_are_buffers() const = 0;
  // Whether buffers ask for outputs that have no room at all, not knowing it. A grant of such an output is lost.
  virtual bool asks_blindly() const = 0;
  // Appends the grants of network edge `edge`. An edge without requests changes nothing, and may be left out.
  virtual void Allocate(uint64_t edge, const BitMatrix<kWords>& requests, std::vector<CrossbarGrant>& grants) = 0;
};

}  // namespace heddle::replay

#endif  // HEDDLE_REPLAY_MEMORY_CROSSBAR_ALLOCATOR_H_
